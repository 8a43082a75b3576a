import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';
import { entriesOfRuns, replaceTotals } from './add-totals.ts';
import { moved } from './count-runs.ts';

/** What a rebuild has done so far. */
export type Rebuilt = {
  bots: number;
  runs: number;
  /** Totals that differed from the runs. */
  corrected: number;
};

/** Runs that one statement counts, if they are of more than one day. */
const BATCH = 50_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Attempts at one step while other processes change totals. */
const ATTEMPTS = 100;

/** The days of a bot to count next. A bot without runs and totals has none. */
type Days = { version: bigint; from: Date; until: Date; end: Date };

/**
 * Counts the runs of bots again and replaces their totals, the oldest first. Servers may run: each step replaces whole days of
 * one bot in one statement. Runs that no server has counted yet are left to `count-runs.ts`.
 *
 * @param onProgress is called after each step.
 */
export async function rebuildTotals(
  prisma: PrismaClient,
  botIds: readonly string[],
  onProgress: (rebuilt: Rebuilt) => void,
): Promise<Rebuilt> {
  const rebuilt: Rebuilt = { bots: 0, runs: 0, corrected: 0 };
  for (const botId of botIds) {
    for (let days = await firstDays(prisma, botId); days && days.from < days.end; ) {
      const { runs, corrected } = await replaceDays(prisma, botId, days);
      rebuilt.runs += runs;
      rebuilt.corrected += corrected;
      onProgress(rebuilt);
      days = await daysFrom(prisma, botId, days.until);
    }
    rebuilt.bots += 1;
    onProgress(rebuilt);
  }
  return rebuilt;
}

async function firstDays(prisma: PrismaClient, botId: string): Promise<Days | undefined> {
  const [first] = await prisma.$queryRaw<{ from: Date | null }[]>`
    SELECT date_trunc('day', LEAST(
      (SELECT min(start) FROM run_totals WHERE bot_id = ${botId}),
      (SELECT min(created_at) FROM runs WHERE bot_id = ${botId})
    ), 'UTC') AS "from"`;
  return first?.from ? daysFrom(prisma, botId, first.from) : undefined;
}

async function daysFrom(prisma: PrismaClient, botId: string, from: Date): Promise<Days> {
  const start = moment(from.getTime());
  const [days] = await prisma.$queryRaw<(Omit<Days, 'from'> & { next: Date | null })[]>`
    SELECT version, counted_until AS "end",
      (SELECT created_at FROM runs WHERE bot_id = ${botId} AND created_at >= ${start}
        ORDER BY created_at OFFSET ${BATCH} LIMIT 1) AS next
    FROM run_totals_range`;
  if (!days) throw new Error('The table run_totals_range has no row.');
  const { version, end, next } = days;
  const last = Math.min(next?.getTime() ?? Number.POSITIVE_INFINITY, end.getTime() + DAY_MS);
  const until = Math.max(Math.floor(last / DAY_MS) * DAY_MS, from.getTime() + DAY_MS);
  return { version, from, until: new Date(until), end };
}

async function replaceDays(
  prisma: PrismaClient,
  botId: string,
  days: Days,
): Promise<{ runs: number; corrected: number }> {
  let { version } = days;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const result = await attemptDays(prisma, botId, { ...days, version });
    if (result.isDone) return result;
    version = (await daysFrom(prisma, botId, days.from)).version;
  }
  throw new Error('Other processes have changed the totals during each attempt.');
}

async function attemptDays(prisma: PrismaClient, botId: string, { version, from, until }: Days) {
  const inside = (time: Prisma.Sql) => Prisma.sql`
    bot_id = ${botId} AND ${time} >= ${moment(from.getTime())} AND ${time} < ${moment(until.getTime())}`;
  const counted = Prisma.sql`
    ${inside(Prisma.sql`created_at`)} AND created_at >= counted_from AND created_at < counted_until`;
  const [result] = await prisma.$queryRaw<{ isDone: boolean; runs: number; corrected: number }[]>`
    WITH moved AS (${moved(version)}),
      seen AS (DELETE FROM run_total_changes USING moved WHERE ${counted}),
      entry AS (${entriesOfRuns(Prisma.sql`moved, runs WHERE ${counted}`)}),
      ${replaceTotals(inside(Prisma.sql`start`))}
    SELECT EXISTS (SELECT 1 FROM moved) AS "isDone",
      (SELECT COALESCE(sum(runs), 0) FROM entry)::float8 AS runs,
      ((SELECT count(*) FROM removed) + (SELECT count(*) FROM stored))::float8 AS corrected`;
  if (!result) throw new Error('The database returned no result.');
  return result;
}
