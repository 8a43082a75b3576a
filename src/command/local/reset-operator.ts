import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { runServerProgram } from './server-program.ts';

export type ResetOptions = {
  /** Whether to ask before. */
  yes: boolean;
  /** The path of a new file for the key. Without it, the key goes to the terminal, or to the data directory without a terminal. */
  keyFile: string | undefined;
};

/** What `src/start/reset-operator.ts` prints. */
type Result = {
  id: string;
  revoked: { id: string; name: string }[];
  secret?: string;
  file?: string;
};

/** Makes a new operator key in the database of this directory's settings, and revokes the others. */
export async function resetOperator({ yes, keyFile }: ResetOptions, context: Context) {
  const { terminal, print } = context;
  if (!yes) {
    if (!terminal.canAsk)
      throw new UsageError('This revokes all operator keys. Without a terminal, add --yes.');
    const { confirm } = await openPrompts(terminal);
    const question = 'This revokes all operator keys and makes a new one. Continue?';
    if (!(await confirm(question))) throw new Refusal('No key was changed.');
  }
  const result = await reset(keyFile, context);
  for (const { id, name } of result.revoked) terminal.note(`Revoked the key ${id} (${name}).`);
  await print(
    result,
    () => result.secret ?? `The new operator key ${result.id} is in ${result.file}.`,
  );
  if (result.secret !== undefined)
    terminal.progress(`The operator key ${result.id} is shown only once. Store it now.`);
}

async function reset(keyFile: string | undefined, context: Context): Promise<Result> {
  const place = context.terminal.width === undefined ? ['data-directory'] : ['stdout'];
  const words = keyFile === undefined ? place : ['file', keyFile];
  const { code, result, problem } = await runServerProgram('reset-operator', words, context);
  if (code !== 0) throw new Refusal(problem || 'The operator key could not be reset.');
  if (isResult(result)) return result;
  throw new Refusal('The operator key was reset, but the result cannot be read. Run it again.');
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'id' in value && 'revoked' in value;
}
