import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { runServerProgram } from './server-program.ts';

/** A billion runs take hours. */
const LIMIT_MS = 24 * 60 * 60 * 1_000;

/** What `src/start/rebuild-stats.ts` prints. */
type Result = { bots: number; runs: number; corrected: number };
type Progress = Result & { of: number };

const count = (value: number) => value.toLocaleString('en-US');

/** Counts the runs of a bot, or of all bots, again in the database of this directory's settings. */
export async function rebuildStats(botId: string | undefined, context: Context): Promise<void> {
  const { terminal, print } = context;
  const { code, result, problem } = await runServerProgram(
    'rebuild-stats',
    botId === undefined ? [] : [botId],
    context,
    LIMIT_MS,
    (progress) => {
      if (isProgress(progress)) terminal.progress(described(progress));
    },
  );
  if (code !== 0) throw new Refusal(problem || 'The statistics could not be rebuilt.');
  if (!isResult(result))
    throw new Refusal('The statistics were rebuilt, but the result cannot be read.');
  await print(result, () => {
    const what = `the statistics of ${count(result.bots)} bots from ${count(result.runs)} runs`;
    return `Rebuilt ${what}. Corrected totals: ${count(result.corrected)}.`;
  });
}

function described({ bots, of, runs }: Progress): string {
  return `Counted ${count(runs)} runs. Finished bots: ${count(bots)} of ${count(of)}.`;
}

function isResult(value: unknown): value is Result {
  return (
    typeof value === 'object' &&
    value !== null &&
    'bots' in value &&
    'runs' in value &&
    'corrected' in value
  );
}

function isProgress(value: unknown): value is Progress {
  return isResult(value) && 'of' in value;
}
