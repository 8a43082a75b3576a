/**
 * Counts the runs of one bot or of all bots again, and replaces their totals in the database of these settings. Prints
 * `{"progress": …}` while it works and the result as JSON. `parley stats rebuild` runs it.
 *
 * Its argument is the id of a bot; all bots by default.
 */
import { StartupError } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createCountRuns } from '../runs/stats/count-runs.ts';
import { type Rebuilt, rebuildTotals } from '../runs/stats/rebuild.ts';
import { runDatabaseProgram } from './database-program.ts';

const PROGRESS_EVERY_MS = 2_000;

async function rebuild(prisma: PrismaClient, botId: string | undefined): Promise<Rebuilt> {
  const bots = await prisma.bot.findMany({
    where: botId === undefined ? {} : { id: botId },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  if (botId !== undefined && bots.length === 0)
    throw new StartupError(`There is no bot "${botId}".`);
  // No server may have run since an update, or since the runs were stored.
  await createCountRuns({ prisma }).countAll(new AbortController().signal);
  let printedAt = performance.now();
  const print = (progress: Rebuilt) => {
    if (performance.now() < printedAt + PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    process.stdout.write(`${JSON.stringify({ progress: { ...progress, of: bots.length } })}\n`);
  };
  const ids = bots.map(({ id }) => id);
  return rebuildTotals(prisma, ids, print);
}

await runDatabaseProgram((prisma) => rebuild(prisma, process.argv[2]));
