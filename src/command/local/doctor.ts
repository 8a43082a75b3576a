import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { oneLine } from '../terminal/text-table.ts';
import { findInstallation, type Installation } from './installation.ts';

/** The result of one check, as `src/doctor.ts` prints it. */
type Check = {
  name: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do. */
  advice?: string;
};

const LIMIT_MS = 60_000;

/** Checks the requirements of a server in this directory, in a process with the settings of the server. */
export async function doctor(context: Context): Promise<void> {
  const { terminal, print } = context;
  const checks = [nodeCheck(), ...(await checkInChild(findInstallation(), context))];
  const { style } = terminal;
  const marks = { ok: style.green('✓'), warning: style.yellow('!'), failed: style.red('✗') };
  const width = Math.max(...checks.map(({ name }) => name.length));
  await print(checks, () =>
    checks
      .map(({ name, status, message, advice }) => {
        const line = `${marks[status]} ${name.padEnd(width)}  ${oneLine(message)}`;
        return advice
          ? `${line}\n  ${' '.repeat(width)}  ${style.bold('→')} ${oneLine(advice)}`
          : line;
      })
      .join('\n'),
  );
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
  if (failed.length > 0) throw new Refusal(`Not in order: ${failed.join(', ')}.`);
}

function nodeCheck(): Check {
  const message = `Node.js ${process.versions.node} runs the command`;
  return { name: 'Command', status: 'ok', message };
}

async function checkInChild(
  { node, root, run }: Installation,
  { signal, environment }: Context,
): Promise<Check[]> {
  const child = spawn(node, run('generated/server/doctor.mjs'), {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    env: { ...environment.all },
  });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  const output = await Promise.race([
    Promise.all([text(child.stdout), text(child.stderr)]),
    failed,
  ]);
  const checks = parse(output[0]);
  if (checks !== undefined) return checks;
  const reason = output[1].trim().split('\n').at(-1) ?? '';
  const advice = `Run npm install in ${root}.`;
  return [{ name: 'Server', status: 'failed', message: `cannot be loaded: ${reason}`, advice }];
}

function parse(output: string): Check[] | undefined {
  try {
    const value: unknown = JSON.parse(output);
    return Array.isArray(value) ? value.filter(isCheck) : undefined;
  } catch {
    return undefined;
  }
}

function isCheck(value: unknown): value is Check {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'status' in value &&
    'message' in value
  );
}
