import { Prisma } from '../../generated/prisma/client.ts';
import { encodedLatency, latencyRange } from './latencies.ts';
import { TOKENS } from './totals.ts';

const KEY = Prisma.raw('bot_id, unit, start, kind, environment, channel, status, key_id');

/**
 * Columns of a group of runs, as SQL: the columns of `KEY` but the unit and the start, the UTC hour `hour`, and the number
 * `range` of their latency. `addTotals` and `replaceTotals` read such groups, with their `runs` and `tokens`, from `entry`.
 */
const ENTRY_KEY = Prisma.sql`
  runs.bot_id, date_trunc('hour', runs.created_at, 'UTC') AS hour, runs.kind, runs.environment, runs.channel, runs.status,
  COALESCE(runs.key_id, '') AS key_id, ${latencyRange(Prisma.sql`runs.latency_ms`)} AS range`;

/** The entries of runs. @param from tables with `runs`, and the conditions on them. */
export function entriesOfRuns(from: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${ENTRY_KEY}, count(*) AS runs, sum(${TOKENS}) AS tokens FROM ${from} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** The entries of rows of `run_total_changes`, which have the name `runs`. */
export function entriesOfChanges(from: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${ENTRY_KEY}, sum(runs.runs) AS runs, sum(runs.tokens) AS tokens FROM ${from} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** The entries by hour and by day. */
const CHANGE = Prisma.sql`
  SELECT bot_id, unit, CASE unit WHEN 'HOUR' THEN hour ELSE date_trunc('day', hour, 'UTC') END AS start,
    kind, environment, channel, status, key_id, range, sum(runs) AS runs, sum(tokens) AS tokens
  FROM entry CROSS JOIN unnest(enum_range(NULL::"TotalUnit")) AS unit
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`;

const CHANGE_PARTS = Prisma.sql`
  SELECT ${KEY}, range, runs, tokens, CASE WHEN range IS NULL THEN 0 ELSE runs END AS finished FROM change`;

/** Rows of `run_totals`. @param parts the columns of `CHANGE_PARTS`, which are summed up. */
function summed(parts: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${KEY}, sum(runs)::int AS runs, sum(tokens)::bigint AS tokens,
      COALESCE(string_agg(${encodedLatency(Prisma.sql`range`, Prisma.sql`finished`)}, '' ORDER BY range)
        FILTER (WHERE range IS NOT NULL AND finished <> 0), '') AS latencies
    FROM (
      SELECT ${KEY}, range, sum(runs) AS runs, sum(tokens) AS tokens, sum(finished) AS finished
      FROM (${parts}) AS part GROUP BY ${KEY}, range
    ) AS by_range GROUP BY ${KEY}`;
}

/** Stores the rows of `total`. */
const STORE = Prisma.sql`
  INSERT INTO run_totals (${KEY}, runs, tokens, latencies)
  SELECT ${KEY}, runs, tokens, latencies FROM total WHERE runs <> 0
  ON CONFLICT (${KEY}) DO UPDATE SET
    runs = excluded.runs, tokens = excluded.tokens, latencies = excluded.latencies
  WHERE (run_totals.runs, run_totals.tokens, run_totals.latencies)
    IS DISTINCT FROM (excluded.runs, excluded.tokens, excluded.latencies)
  RETURNING 1`;

/** Adds the entries to the totals, as common table expressions. Only one process at a time may do this. */
export const addTotals = Prisma.sql`
  change AS MATERIALIZED (${CHANGE}),
  known AS MATERIALIZED (
    SELECT stored.* FROM (SELECT DISTINCT ${KEY} FROM change) AS changed CROSS JOIN LATERAL (
      SELECT ctid AS place, * FROM run_totals
      WHERE (${KEY}) = (changed.bot_id, changed.unit, changed.start, changed.kind, changed.environment, changed.channel,
        changed.status, changed.key_id)
      -- The planner expects so many changes that it would read all totals.
      OFFSET 0
    ) AS stored
  ),
  total AS MATERIALIZED (${summed(Prisma.sql`
    ${CHANGE_PARTS}
    UNION ALL
    SELECT ${KEY}, NULL, runs, tokens, 0 FROM known
    UNION ALL
    SELECT ${KEY}, counts.range, 0, 0, counts.runs FROM known, run_latency_counts(latencies) AS counts`)}
  ),
  removed AS (
    DELETE FROM run_totals WHERE ctid = ANY(ARRAY(SELECT place FROM known JOIN total USING (${KEY}) WHERE total.runs = 0))
  ),
  stored AS (${STORE})`;

/**
 * Replaces totals with the totals of the entries, as common table expressions: `removed` and `stored` have a row for each
 * total that was wrong.
 *
 * @param where selects the totals of whole days of a bot.
 */
export function replaceTotals(where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    change AS MATERIALIZED (${CHANGE}),
    total AS MATERIALIZED (${summed(CHANGE_PARTS)}),
    removed AS (
      DELETE FROM run_totals USING moved
      WHERE ${where} AND (${KEY}) NOT IN (SELECT ${KEY} FROM total) RETURNING 1
    ),
    stored AS (${STORE})`;
}
