import { useDeferredValue, useMemo, useState } from 'react';
import { isRecord } from '../../server/record.ts';
import { type ContextReading, readContext } from './context-json.ts';

/** Characters of the longest context in an address. */
const MAX_IN_ADDRESS = 1_000;

/** The input that is not sent yet. It outlives a change of the session, but not the tab. */
export type Draft = {
  message: string;
  context: string;
  /** The context as it is shown, which may be one key press old. */
  reading: ContextReading;
  /** Reads the context as it was typed last. */
  readNow(): ContextReading;
  /** The context for the address. A long one is not in it. */
  addressed(): string | undefined;
  idempotencyKey: string;
  protocol: 'graphql' | 'rest';
  change(changes: Partial<Typed>): void;
};

type Typed = Pick<Draft, 'message' | 'context' | 'idempotencyKey' | 'protocol'>;

/** @param given the context of the address, for a visit that got none from another screen. */
export function useDraft(given: string | undefined): Draft {
  const [typed, setTyped] = useState<Typed>(() => ({
    ...handedOver(given),
    idempotencyKey: '',
    protocol: 'graphql',
  }));
  // A long context is read after the key press that changed it has shown.
  const context = useDeferredValue(typed.context);
  const reading = useMemo(() => readContext(context), [context]);
  return {
    ...typed,
    reading,
    readNow: () => (context === typed.context ? reading : readContext(typed.context)),
    addressed: () => {
      const { value } = readContext(typed.context);
      const text = value && JSON.stringify(value);
      return text && text.length <= MAX_IN_ADDRESS ? text : undefined;
    },
    change: (changes) => setTyped((now) => ({ ...now, ...changes })),
  };
}

/** The message and the context that another screen gives to this one with the entry of the history. */
function handedOver(given = ''): Pick<Typed, 'message' | 'context'> {
  const state: unknown = history.state;
  const { message, context } = isRecord(state) ? state : {};
  return {
    message: typeof message === 'string' ? message : '',
    context: isRecord(context) ? JSON.stringify(context, null, 2) : given,
  };
}
