import { parseEnv } from 'node:util';
import type { Context } from '../context.ts';
import { readSourceFile } from '../definitions/source-file.ts';
import { Refusal, UsageError } from '../errors.ts';
import { openPrompts } from '../terminal/prompts.ts';

/** `--var` and `--vars`. */
export type VariableOptions = { vars: readonly string[]; varsFile: string | undefined };

/**
 * Collects the values of variables. `--var` wins over `--vars`. `--var NAME` reads the environment, or asks without echo.
 * No message contains a value.
 *
 * @throws UsageError that names every variable without a value.
 */
export async function readVariables(
  { vars, varsFile }: VariableOptions,
  context: Context,
): Promise<Record<string, string>> {
  const values = varsFile === undefined ? {} : await readFileOfVariables(varsFile, context);
  const missing: string[] = [];
  for (const entry of vars) {
    const at = entry.indexOf('=');
    const name = at === -1 ? entry : entry.slice(0, at);
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw new UsageError(
        '--var must be NAME=VALUE or NAME, where NAME has only letters, digits and "_".',
      );
    const value = at === -1 ? context.environment.all[name] : entry.slice(at + 1);
    if (value) values[name] = value;
    else missing.push(name);
  }
  if (missing.length === 0) return values;
  if (!context.terminal.canAsk)
    throw new UsageError(
      `${missing.join(', ')} ${missing.length === 1 ? 'has' : 'have'} no value. Set it in the environment, or use --vars FILE.`,
    );
  const { secret } = await openPrompts(context.terminal);
  for (const name of missing) {
    const value = await secret(`Value of ${name}`);
    if (value === '') throw new UsageError(`${name} has no value.`);
    values[name] = value;
  }
  return values;
}

async function readFileOfVariables(
  path: string,
  { terminal }: Context,
): Promise<Record<string, string>> {
  const { text } = await readSourceFile(path, terminal.stdin);
  const values: Record<string, string> = {};
  const empty: string[] = [];
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (value) values[name] = value;
    else empty.push(name);
  }
  if (empty.length > 0)
    throw new Refusal(
      `${empty.sort().join(', ')} in ${path}: no value. Fill it in, or remove the line.`,
    );
  return values;
}
