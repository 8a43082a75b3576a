import { Interrupted } from '../errors.ts';
import type { Terminal } from './terminal.ts';
import { oneLine } from './text-table.ts';

/** Questions on stderr, in their visible form. Each one requires `terminal.canAsk`, and throws `Interrupted` if the user cancels. */
export type Prompts = {
  confirm(message: string): Promise<boolean>;
  /** Reads a secret without showing it. */
  secret(message: string): Promise<string>;
  /** Reads a line. */
  line(message: string): Promise<string>;
  select(message: string, options: readonly Choice[]): Promise<string>;
};

export type Choice = { value: string; label: string; hint?: string };

/** Loads the prompts' library, which most commands never need. */
export async function openPrompts({ stdin, stderr }: Terminal): Promise<Prompts> {
  const clack = await import('@clack/prompts');
  const streams = { input: stdin, output: stderr };
  async function answer<Value>(prompt: Promise<Value | typeof clack.CANCEL_SYMBOL>) {
    const value = await prompt;
    if (clack.isCancel(value)) throw new Interrupted();
    return value;
  }
  return {
    confirm: (question) =>
      answer(clack.confirm({ message: oneLine(question), initialValue: false, ...streams })),
    secret: async (question) => {
      const message = oneLine(question);
      const options = { message, mask: ' ', clearOnError: true, ...streams };
      return (await answer(clack.password(options))) ?? '';
    },
    line: async (question) =>
      (await answer(clack.text({ message: oneLine(question), ...streams }))) ?? '',
    select: (question, choices) => {
      const options = choices.map(({ value, label, hint = '' }) => ({
        value,
        label: oneLine(label),
        hint: oneLine(hint),
      }));
      return answer(clack.select({ message: oneLine(question), options, ...streams }));
    },
  };
}
