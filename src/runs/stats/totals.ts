import { Prisma } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';
import { encodedLatency, latencyRange } from './latencies.ts';
import type { TimeRange, Unit } from './stats-period.ts';

const HOUR_MS = 60 * 60 * 1_000;

/** The tokens of a run, as SQL. */
export const TOKENS = Prisma.sql`(runs.prompt_tokens::bigint + runs.completion_tokens)`;

/** The columns that totals, changes and runs have in common, under the names of the result. */
const COLUMNS = Prisma.sql`runs.kind, runs.environment, runs.channel, runs.status`;

/**
 * The part of a period that has totals, as SQL with one row: `hours_from` and `until` are its ends, and between `days_from` and
 * `days_until` the totals of days serve. The totals of the last hour and day count the runs created until the end of the
 * counted range, so they serve if the period ends later.
 *
 * @param unit `hour`: the totals of days do not serve.
 */
export function coverage({ from, to }: TimeRange, unit?: Unit): Prisma.Sql {
  const end = moment(to);
  const firstHour = moment(Math.ceil(from / HOUR_MS) * HOUR_MS);
  const lastHour = moment(Math.floor(to / HOUR_MS) * HOUR_MS);
  const days =
    unit === 'hour'
      ? Prisma.sql`until AS days_from, until AS days_until`
      : Prisma.sql`${startFrom('day', Prisma.sql`hours_from`)} AS days_from,
          CASE WHEN is_open THEN until ELSE date_trunc('day', until, 'UTC') END AS days_until`;
  return Prisma.sql`
    SELECT hours_from, until, ${days} FROM (
      SELECT GREATEST(${firstHour}, ${startFrom('hour', Prisma.sql`counted_from`)}) AS hours_from,
        CASE WHEN counted_until <= ${end} THEN counted_until ELSE ${lastHour} END AS until,
        counted_until <= ${end} AS is_open
      FROM run_totals_range
    ) AS range`;
}

/** The first start of a UTC hour or day that is not before a time. Times have milliseconds. */
function startFrom(unit: Unit, time: Prisma.Sql): Prisma.Sql {
  const length = Prisma.raw(`interval '1 ${unit}'`);
  const name = Prisma.raw(`'${unit}'`);
  return Prisma.sql`
    date_trunc(${name}, ${time} - interval '1 millisecond', 'UTC') + ${length}`;
}

/**
 * Rows that together count each run of a period once, as SQL: the totals of whole days and hours, what has changed since they
 * were stored, and the runs that are not in them. They have the time `at`, which is in the UTC hour or day of their runs, the
 * columns that `conditions` may name, `key_id`, `runs`, `tokens` and encoded `latencies`.
 *
 * The statement provides `owner.id`, the id of a bot, and `covered`, the row of `coverage`.
 *
 * @param conditions on kind, environment, channel and status of `runs`; none by default.
 */
export function countedRuns(
  { from, to }: TimeRange,
  conditions: Prisma.Sql = Prisma.sql`true`,
): Prisma.Sql {
  const totals = (unit: 'HOUR' | 'DAY', start: Prisma.Sql, end: Prisma.Sql) => Prisma.sql`
    SELECT runs.start AS at, ${COLUMNS}, NULLIF(runs.key_id, '') AS key_id, runs.runs, runs.tokens, runs.latencies
    FROM run_totals AS runs
    WHERE bot_id = owner.id AND unit = ${unit}::"TotalUnit" AND start >= ${start} AND start < ${end} AND ${conditions}`;
  // `OFFSET 0` makes the planner read the runs by the index of their time: it expects far more of them than there are.
  const uncounted = (start: Prisma.Sql, end: Prisma.Sql) => Prisma.sql`
    (SELECT created_at, ${COLUMNS}, key_id, 1, ${TOKENS},
      ${encodedLatency(latencyRange(Prisma.sql`latency_ms`), Prisma.sql`1`)}
    FROM runs WHERE bot_id = owner.id AND created_at >= ${start} AND created_at < ${end} AND ${conditions}
    OFFSET 0)`;
  const hoursFrom = Prisma.sql`covered.hours_from`;
  const until = Prisma.sql`covered.until`;
  return Prisma.sql`
    ${totals('DAY', Prisma.sql`covered.days_from`, Prisma.sql`covered.days_until`)}
    UNION ALL
    ${totals('HOUR', hoursFrom, Prisma.sql`LEAST(covered.days_from, ${until})`)}
    UNION ALL
    ${totals('HOUR', Prisma.sql`GREATEST(covered.days_until, covered.days_from)`, until)}
    UNION ALL
    SELECT created_at, ${COLUMNS}, NULLIF(runs.key_id, ''), runs.runs, runs.tokens,
      ${encodedLatency(latencyRange(Prisma.sql`latency_ms`), Prisma.sql`runs.runs`)}
    FROM run_total_changes AS runs
    WHERE bot_id = owner.id AND created_at >= ${hoursFrom} AND created_at < ${until} AND ${conditions}
    UNION ALL
    ${uncounted(moment(from), Prisma.sql`LEAST(${hoursFrom}, ${moment(to)})`)}
    UNION ALL
    ${uncounted(Prisma.sql`GREATEST(${until}, ${hoursFrom})`, moment(to))}`;
}
