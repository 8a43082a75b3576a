import type { Context } from './context.ts';
import { Refusal } from './errors.ts';
import { oneLine } from './terminal/text-table.ts';

/** The result of one check, as `src/start/doctor.ts` prints it. */
export type Check = {
  name: string;
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do. */
  advice?: string;
};

/**
 * Prints checks with their marks and advice.
 *
 * @throws Refusal that names the failed checks.
 */
export async function printChecks(
  checks: Check[],
  { terminal: { style }, print }: Pick<Context, 'terminal' | 'print'>,
): Promise<void> {
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
