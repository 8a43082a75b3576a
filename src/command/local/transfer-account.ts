import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { runServerProgram } from './server-program.ts';

/** A large account takes hours. */
const LIMIT_MS = 24 * 60 * 60 * 1_000;

/** The paths of new files; none: named after the account. */
export type ExportOptions = { output: string | undefined; keyFile: string | undefined };

/** What `src/start/transfer-account.ts` prints. */
type Result = { account: string; rows: Record<string, number> };

/** Writes an account of this directory's settings to a file. */
export async function exportAccount(
  account: string,
  { output = `${account}.ndjson`, keyFile = keyFileOf(output) }: ExportOptions,
  context: Context,
) {
  const result = await transfer(['export', account, output, keyFile], context);
  await context.print(
    { ...result, output, keyFile },
    () => `Exported ${described(result)} to ${output}. The key for its variables is in ${keyFile}.`,
  );
}

/** Stores the account of a file in the database of this directory's settings. */
export async function importAccount(file: string, keyFile = keyFileOf(file), context: Context) {
  const result = await transfer(['import', file, keyFile], context);
  await context.print(
    result,
    () => `Imported ${described(result)}. It is suspended until an operator resumes it.`,
  );
}

const keyFileOf = (path: string) => `${path}.key`;

function described({ account, rows }: Result): string {
  const [bots, sessions, runs] = [rows.bots ?? 0, rows.sessions ?? 0, rows.runs ?? 0];
  return `the account ${account} (bots: ${bots}, sessions: ${sessions}, runs: ${runs})`;
}

async function transfer(words: string[], context: Context): Promise<Result> {
  context.terminal.progress('This takes some minutes for each million runs.');
  const { code, result, problem } = await runServerProgram(
    'transfer-account',
    words,
    context,
    LIMIT_MS,
  );
  if (code !== 0) throw new Refusal(problem || 'The account could not be moved.');
  if (isResult(result)) return result;
  throw new Refusal('The account was moved, but the result cannot be read.');
}

function isResult(value: unknown): value is Result {
  return typeof value === 'object' && value !== null && 'account' in value && 'rows' in value;
}
