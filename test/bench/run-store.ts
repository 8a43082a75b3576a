import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { query } from './postgres.ts';
import { BOT_ID } from './targets.ts';

export const DAYS = 365;
/** A bot that has as many runs in the last days of the year as the benchmark's bot has in the year. */
export const BUSY_BOT_ID = 'busy';
export const BUSY_DAYS = 30;
const USERS = 20_000;
/** Different replies, of 60 words each. */
const TEXTS = 20_000;

/** The time that runs are stored for. */
export type Days = {
  days: number;
  /** The time of the last run, in ISO format. */
  end: string;
  /** The SQL expression of the replies; 60 words by default. */
  response?: string;
};

const YEAR: Days = { days: DAYS, end: '2026-01-01T00:00:00Z' };

/**
 * Stores runs of the benchmark's bot, over a year by default. Another bot gets a fifth of this number, with opposite values, so that
 * the table's statistics fit neither bot.
 *
 * @returns the duration in seconds.
 */
export async function storeRuns(
  databaseUrl: string,
  count: number,
  time: Days = YEAR,
): Promise<number> {
  const start = performance.now();
  await query(
    databaseUrl,
    `INSERT INTO bots (id, account_id, name) SELECT 'opposite', id, 'opposite' FROM accounts LIMIT 1`,
    `INSERT INTO deployments (id, bot_id, environment, status, source, channels, env_names)
      SELECT prefix || n, bot, 'PRODUCTION', 'DEPLOYED', '', '{}', '{}'
      FROM (VALUES ('dep_', '${BOT_ID}'), ('opposite_', 'opposite')) AS each(prefix, bot),
        generate_series(0, 9) AS n`,
    REPLIES,
  );
  const indexes = await indexesOfRuns(databaseUrl);
  await query(
    databaseUrl,
    // An index is built much faster at once than row by row.
    ...indexes.map(({ name }) => `DROP INDEX "${name}"`),
    runsOf(BOT_ID, count, USUAL, RARE, { prefix: '0', ...time }),
    // The runs of a deployment belong to the same bot.
    runsOf(
      'opposite',
      count / 5,
      { ...RARE, deployment: 'opposite_7' },
      { ...USUAL, deployment: 'opposite_0' },
      { prefix: 'x', ...time },
    ),
    `SET maintenance_work_mem = '512MB'`,
    ...indexes.map(({ definition }) => definition),
    `INSERT INTO feedback (run_id, author, bot_id, rating, run_created_at)
      SELECT id, 'user', bot_id, (CASE WHEN latency_ms >= 30000 THEN 'DOWN' ELSE 'UP' END)::"FeedbackRating", created_at
      FROM runs WHERE latency_ms % 10 = 0 OR latency_ms >= 30000`,
    'VACUUM ANALYZE runs',
    'VACUUM ANALYZE feedback',
  );
  return (performance.now() - start) / 1_000;
}

/** Stores the runs of the busy bot, with short replies, because the index of the search takes minutes for long ones. */
export async function storeBusyRuns(databaseUrl: string, count: number): Promise<void> {
  const busy = { ...USUAL, deployment: 'busy_0' };
  await query(
    databaseUrl,
    `INSERT INTO bots (id, account_id, name) SELECT '${BUSY_BOT_ID}', id, 'busy' FROM accounts LIMIT 1`,
    `INSERT INTO deployments (id, bot_id, environment, status, source, channels, env_names)
      VALUES ('busy_0', '${BUSY_BOT_ID}', 'PRODUCTION', 'DEPLOYED', '', '{}', '{}')`,
    runsOf(
      BUSY_BOT_ID,
      count,
      busy,
      { ...RARE, deployment: 'busy_0' },
      { prefix: 'y', ...YEAR, days: BUSY_DAYS, response: `'Yes.'` },
    ),
    'VACUUM ANALYZE runs',
  );
}

/** The indexes that hold no constraint. */
function indexesOfRuns(databaseUrl: string): Promise<{ name: string; definition: string }[]> {
  return query(
    databaseUrl,
    `SELECT relname AS name, pg_get_indexdef(indexrelid) AS definition
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'runs'::regclass AND NOT indisunique`,
  );
}

type Sort = {
  kind: string;
  environment: string;
  channel: string;
  deployment: string;
  user: string;
  model: string;
};

const USUAL: Sort = {
  kind: 'CHAT',
  environment: 'PRODUCTION',
  channel: 'API',
  deployment: 'dep_0',
  user: 'user-0',
  model: 'model-0',
};
const RARE: Sort = {
  kind: 'EXECUTE',
  environment: 'STAGING',
  channel: 'TELEGRAM',
  deployment: 'dep_7',
  user: 'user-77',
  model: 'model-7',
};

/** Replies with 20,000 different words, which are as unevenly common as the words of a language. */
const REPLIES = `
  CREATE TABLE bench_texts AS
    SELECT id, string_agg('word' || floor(20000 * power(random(), 4)), ' ') AS text
    FROM generate_series(0, ${TEXTS - 1}) AS id, generate_series(1, 60) GROUP BY id`;

type Period = Days & {
  /** A character that the ids of no other bot's runs begin with. */
  prefix: string;
};

/** Runs of a period, a few of which have rare values, chosen separately for each column. */
function runsOf(
  bot: string,
  count: number,
  usual: Sort,
  rare: Sort,
  { prefix, days, end, response = 'bench_texts.text' }: Period,
): string {
  const mostly = (part: number, column: keyof Sort) =>
    `CASE WHEN n % ${part} = 0 THEN '${rare[column]}' ELSE '${usual[column]}' END`;
  return `
    INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, session_id, input,
      response, created_at, started_at, finished_at, latency_ms, prompt_tokens, completion_tokens, tools_called, model,
      error_code)
    SELECT
      'run_' || lpad(to_hex(n), 26, '${prefix}'),
      '${bot}',
      ${mostly(20_011, 'deployment')},
      (${mostly(499, 'environment')})::"Environment",
      (${mostly(101, 'kind')})::"RunKind",
      (CASE WHEN n % 100003 = 0 THEN 'QUEUED' WHEN n % 37 = 0 THEN 'FAILED' ELSE 'COMPLETED' END)::"RunStatus",
      (${mostly(9_973, 'channel')})::"Channel",
      CASE WHEN n % 20 = 0 THEN '${usual.user}' ELSE 'user-' || n % ${USERS} END,
      'Where is my order ' || n || CASE WHEN n % 50021 = 0 THEN ', a rare word?' ELSE '?' END,
      ${response},
      moment, moment, moment + interval '1 second',
      CASE WHEN n % 40009 = 0 THEN 30000 + n % 7 ELSE 500 + n % 2000 END,
      CASE WHEN n % 60013 = 0 THEN 5000 WHEN n % 2000 < 1000 THEN 80 ELSE 40 END, 60, '{}', ${mostly(30_011, 'model')},
      CASE WHEN n % 100003 <> 0 AND n % 37 = 0 THEN
        CASE WHEN n % 7919 = 0 THEN 'model_timeout' ELSE 'model_error' END END
    FROM generate_series(1, ${count}) AS n JOIN bench_texts ON bench_texts.id = n % ${TEXTS},
      LATERAL (SELECT timestamptz '${end}' - (${count} - n) / ${count}.0::float8 * interval '${days} days' AS moment) AS at`;
}

/** Waits until the server has counted all runs for statistics. */
export async function untilCounted(databaseUrl: string, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const left = `SELECT FROM run_totals_range WHERE counted_from > 'epoch'
      OR EXISTS (SELECT FROM run_total_changes)
      OR EXISTS (SELECT FROM runs WHERE created_at >= counted_until AND created_at < now() - interval '2 minutes')`;
    while ((await client.query(left)).rowCount !== 0) await setTimeout(200, undefined, { signal });
    await client.query('VACUUM ANALYZE run_totals');
  } finally {
    await client.end();
  }
}
