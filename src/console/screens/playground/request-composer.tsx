import { type ReactNode, type RefObject, useMemo, useState } from 'react';
import { Composer } from '../../chat/composer.tsx';
import { loadMarkdown } from '../../chat/reply-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ContextEditor } from './context-editor.tsx';
import { KeyRow } from './key-row.tsx';
import { OptionFields } from './option-fields.tsx';
import './request-composer.css';
import type { Draft } from './use-draft.ts';
import type { Parameters } from './use-parameters.ts';

type Panel = 'context' | 'options';

const PROTOCOLS = [
  { name: 'graphql', label: 'GraphQL' },
  { name: 'rest', label: 'REST' },
] as const;

/** Where a message is written, with everything that is sent with it. */
export function RequestComposer({
  bot,
  deploymentId,
  input,
  draft,
  parameters,
  onChange,
  isBusy,
  unavailable,
  note,
  onSend,
  onStop,
}: {
  bot: { id: string; name: string };
  /** The deployment whose definition reads the context. */
  deploymentId: string | undefined;
  input: RefObject<HTMLTextAreaElement | null>;
  draft: Draft;
  parameters: Parameters;
  onChange(changes: Partial<Parameters>): void;
  isBusy: boolean;
  unavailable: string | undefined;
  /** Stands above the message. */
  note?: ReactNode;
  onSend(): void;
  onStop(): void;
}) {
  const { isCompared } = parameters;
  const [panel, setPanel] = useState<Panel>();
  const toggle = (name: Panel) => setPanel(panel === name ? undefined : name);
  return (
    <Composer
      input={input}
      message={draft.message}
      onChange={(message) => draft.change({ message })}
      placeholder={isCompared ? 'Write to both…' : `Write to ${bot.name}…`}
      action={isCompared ? 'Send to both' : 'Send'}
      isBusy={isBusy}
      unavailable={unavailable}
      onFocus={loadMarkdown}
      onSend={onSend}
      onStop={onStop}
      top={
        <>
          {panel === 'context' && <ContextEditor deploymentId={deploymentId} draft={draft} />}
          {panel === 'options' && (
            <OptionFields draft={draft} parameters={parameters} onChange={onChange} />
          )}
          {!isCompared && draft.protocol === 'rest' && <KeyRow botId={bot.id} />}
          {note}
        </>
      }
    >
      <PanelButton isOpen={panel === 'context'} onClick={() => toggle('context')}>
        {draft.reading.fault && <Icon name="warning" size={12} />}
        context
        <ContextSummary draft={draft} />
      </PanelButton>
      <PanelButton isOpen={panel === 'options'} onClick={() => toggle('options')}>
        {optionSummary(draft, parameters)}
      </PanelButton>
      {!isCompared && (
        <Segments
          label="Protocol"
          options={[...PROTOCOLS]}
          current={draft.protocol}
          onChange={(protocol) => draft.change({ protocol })}
        />
      )}
    </Composer>
  );
}

function PanelButton({
  isOpen,
  onClick,
  children,
}: {
  isOpen: boolean;
  onClick(): void;
  children: ReactNode;
}) {
  return (
    <button type="button" className="chip chip-button" aria-expanded={isOpen} onClick={onClick}>
      {children}
    </button>
  );
}

function ContextSummary({ draft: { reading } }: { draft: Draft }) {
  const { value, fault } = reading;
  const text = useMemo(() => value && JSON.stringify(value), [value]);
  if (fault) return <span>has an error</span>;
  if (!text) return null;
  return <span className="mono cut">{text.length > 32 ? `${text.slice(0, 31)}…` : text}</span>;
}

function optionSummary(
  { idempotencyKey }: Draft,
  { isCompared, isStreamed, onBusy, hasTools }: Parameters,
): string {
  const busy = onBusy === 'REJECT' && 'reject if busy';
  if (isCompared)
    return [hasTools ? 'with tools' : 'without tools', busy].filter(Boolean).join(' · ');
  return [isStreamed ? 'streamed' : 'whole', busy, idempotencyKey && 'idempotent']
    .filter(Boolean)
    .join(' · ');
}
