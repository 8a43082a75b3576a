import { Interrupted } from '../errors.ts';
import type { Terminal } from './terminal.ts';

/** Questions on stderr. Each one requires `terminal.canAsk`, and throws `Interrupted` if the user cancels. */
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
    confirm: (message) => answer(clack.confirm({ message, initialValue: false, ...streams })),
    secret: async (message) =>
      (await answer(clack.password({ message, mask: ' ', clearOnError: true, ...streams }))) ?? '',
    line: async (message) => (await answer(clack.text({ message, ...streams }))) ?? '',
    select: (message, options) =>
      answer(clack.select({ message, options: [...options], ...streams })),
  };
}
