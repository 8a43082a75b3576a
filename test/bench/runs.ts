import pg from 'pg';
import { percentile } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type TargetOptions } from './targets.ts';

/** The number of runs of the bot whose runs are listed. */
const RUNS = 1_000_000;
/** The runs of a bot with opposite values, so that the table's statistics fit neither bot. */
const OTHERS = 200_000;
const USERS = 20_000;
const DAYS = 365;
const PAGE = 50;
const SAMPLES = 20;
/** Different replies, of 60 words each. */
const TEXTS = 20_000;

type Filter = Record<string, unknown>;

/** Every field of the filter, with values that many runs have and that few runs have. */
const FIELDS: Record<string, Record<string, Filter>> = {
  user: { many: { user: 'user-0' }, few: { user: 'user-77' } },
  status: { many: { status: ['COMPLETED'] }, few: { status: ['QUEUED'] } },
  channel: { many: { channel: ['API'] }, few: { channel: ['TELEGRAM'] } },
  kind: { many: { kind: 'CHAT' }, few: { kind: 'EXECUTE' } },
  environment: { many: { environment: 'PRODUCTION' }, few: { environment: 'STAGING' } },
  deploymentId: { many: { deploymentId: 'dep_0' }, few: { deploymentId: 'dep_7' } },
  model: { many: { model: 'model-0' }, few: { model: 'model-7' } },
  errorCode: { many: { errorCode: ['MODEL_ERROR'] }, few: { errorCode: ['MODEL_TIMEOUT'] } },
  minLatencyMs: { many: { minLatencyMs: 1_000 }, few: { minLatencyMs: 30_001 } },
  minTokens: { many: { minTokens: 100 }, few: { minTokens: 5_003 } },
  text: { many: { text: 'order' }, few: { text: '"rare word"' } },
  date: { a: { date: '2026-02-03' } },
  'from, to': { a: { from: '2026-03-01T00:00:00Z', to: '2026-06-01T00:00:00Z' } },
};

const LIST = `query ($botId: ID!, $filter: RunFilter, $after: String) {
  runs(botId: $botId, filter: $filter, first: ${PAGE}, after: $after) {
    edges { cursor node { id status kind channel environment user input response createdAt latencyMs tokensUsed } }
    pageInfo { hasNextPage endCursor }
  }
}`;
const LIST_WITH_TRACES = `query ($botId: ID!) {
  runs(botId: $botId, first: ${PAGE}) {
    edges { cursor node { id status response trace { traceId spans { spanId parentId name startedAt durationMs attributes } } } }
  }
}`;
const STATS = `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
  bot(id: $id) { stats(from: $from, to: $to) { runs latencyP95 perDay { runs } } }
}`;

/**
 * Measures pages of 50 among a million runs on PostgreSQL: each field of the filter alone and each pair of fields, with
 * common and with rare values, from the newest run and from the middle of the list. Each figure is that of whole responses
 * over GraphQL, one at a time.
 */
export async function benchRuns(options: TargetOptions & { postgresUrl: string }): Promise<void> {
  const databaseUrl = await freshDatabase(options.postgresUrl, options.stack);
  const parley = await startParley('Parley', undefined, options, databaseUrl);
  const seconds = await fill(databaseUrl);
  console.log(`${RUNS + OTHERS} runs stored in ${seconds.toFixed(0)} s.\n`);

  const run = async (query: string, variables: object) => {
    options.signal.throwIfAborted();
    const start = performance.now();
    const response = await fetch(`${parley.url}/graphql`, {
      method: 'POST',
      headers: { ...parley.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as Answer;
    if (errors) throw new Error(JSON.stringify(errors));
    return { data, ms: performance.now() - start };
  };
  const list = (filter: Filter, after?: string) =>
    run(LIST, { botId: BOT_ID, filter, after: after ?? null });
  const middle = await list({ to: '2026-07-01T00:00:00Z' });
  const after = middle.data.runs.edges[0]?.cursor;

  /** Measures all filters in turn, repeatedly, so that other load on the machine affects all of them equally. */
  const measure = async (filters: [string, Filter][]) => {
    const measured = filters.map(([name, filter]) => ({
      name,
      filter,
      found: 0,
      times: [] as number[],
    }));
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      for (const each of measured) {
        for (const place of [undefined, after]) {
          const { data, ms } = await list(each.filter, place);
          each.times.push(ms);
          each.found = Math.max(each.found, data.runs.edges.length);
        }
      }
    }
    return measured;
  };

  /** Stores the trace of a real chat in the runs of the first page, and reads them with it. */
  const traceNewest = async () => {
    const headers = { ...parley.headers, 'content-type': 'application/json' };
    const body = JSON.stringify({ message: 'Where is my order?' });
    const chat = await fetch(parley.chatUrl, { method: 'POST', headers, body });
    const { run_id } = (await chat.json()) as { run_id: string };
    await query(
      databaseUrl,
      `UPDATE runs SET spans = (SELECT spans FROM runs WHERE id = '${run_id}') WHERE id IN
        (SELECT id FROM runs WHERE bot_id = '${BOT_ID}' ORDER BY created_at DESC LIMIT ${PAGE})`,
    );
    const times: number[] = [];
    for (let sample = 0; sample < 2 * SAMPLES; sample += 1) {
      times.push((await run(LIST_WITH_TRACES, { botId: BOT_ID })).ms);
    }
    return { p50: percentile(times, 0.5).toFixed(1), p95: percentile(times, 0.95).toFixed(1) };
  };

  await measure(Array(SAMPLES).fill(['warm-up', {}]));
  const rows = [['filter', 'rows', 'p50 ms', 'p95 ms']];
  for (const { name, found, times } of await measure(combinations())) {
    const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
    rows.push([name, String(found), p50.toFixed(1), p95.toFixed(1)]);
  }
  console.log(`${align(rows)}\n`);
  const traces = await traceNewest();
  console.log(`The newest ${PAGE} with their traces: p50 ${traces.p50} ms, p95 ${traces.p95} ms.`);
  console.log(`Sizes in MB: ${await sizesOf(databaseUrl)}.`);
  for (const days of [1, 30, DAYS]) {
    const to = new Date('2026-12-31T00:00:00Z');
    const from = new Date(to.getTime() - days * 24 * 60 * 60 * 1_000);
    const { data, ms } = await run(STATS, { id: BOT_ID, from, to });
    console.log(`Statistics of ${data.bot.stats.runs} runs in ${days} days: ${ms.toFixed(0)} ms.`);
  }
}

type Answer = {
  data: {
    runs: { edges: { cursor: string }[] };
    bot: { stats: { runs: number } };
  };
  errors?: unknown[];
};

/** No filter, each field alone, and each pair of fields, with all of their values. */
function combinations(): [string, Filter][] {
  const single = Object.entries(FIELDS).map(([field, values]) =>
    Object.entries(values).map(([value, filter]): [string, Filter] => [
      value === 'a' ? field : `${field} of ${value}`,
      filter,
    ]),
  );
  const pairs = single.flatMap((ones, index) =>
    single
      .slice(index + 1)
      .flatMap((others) =>
        ones.flatMap(([a, one]) =>
          others.map(([b, other]): [string, Filter] => [`${a}, ${b}`, { ...one, ...other }]),
        ),
      ),
  );
  return [['none', {}], ...single.flat(), ...pairs];
}

/** Stores the runs. @returns the duration in seconds. */
async function fill(databaseUrl: string): Promise<number> {
  await query(
    databaseUrl,
    `INSERT INTO bots (id, account_id, name) SELECT 'opposite', id, 'opposite' FROM accounts LIMIT 1`,
    `INSERT INTO deployments (id, bot_id, environment, status, source, channels, env_names)
      SELECT prefix || n, bot, 'PRODUCTION', 'DEPLOYED', '', '{}', '{}'
      FROM (VALUES ('dep_', '${BOT_ID}'), ('opposite_', 'opposite')) AS each(prefix, bot),
        generate_series(0, 9) AS n`,
  );
  await query(databaseUrl, REPLIES);
  const start = performance.now();
  await query(
    databaseUrl,
    runsOf(BOT_ID, RUNS, USUAL, RARE),
    // The runs of a deployment belong to the same bot.
    runsOf(
      'opposite',
      OTHERS,
      { ...RARE, deployment: 'opposite_7' },
      { ...USUAL, deployment: 'opposite_0' },
    ),
  );
  const seconds = (performance.now() - start) / 1_000;
  await query(databaseUrl, 'VACUUM ANALYZE runs');
  return seconds;
}

async function query(databaseUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The sizes of the table of runs and of its indexes. */
async function sizesOf(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; mb: number }>(`
      SELECT relname AS name, (pg_relation_size(oid) / 1e6)::int AS mb
      FROM pg_class WHERE relname ~ '^runs_' OR relname = 'runs' ORDER BY 2 DESC`);
    return rows.map(({ name, mb }) => `${name} ${mb}`).join(', ');
  } finally {
    await client.end();
  }
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

/** Replies whose words are as unevenly common as those of a language, among 20,000. */
const REPLIES = `
  CREATE TABLE bench_texts AS
    SELECT id, string_agg('word' || floor(20000 * power(random(), 4)), ' ') AS text
    FROM generate_series(0, ${TEXTS - 1}) AS id, generate_series(1, 60) GROUP BY id`;

/** Runs over a year, a few of which have rare values, chosen separately for each column. */
function runsOf(bot: string, count: number, usual: Sort, rare: Sort): string {
  const mostly = (part: number, column: keyof Sort) =>
    `CASE WHEN n % ${part} = 0 THEN '${rare[column]}' ELSE '${usual[column]}' END`;
  return `
    INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, session_id, input,
      response, created_at, started_at, finished_at, latency_ms, prompt_tokens, completion_tokens, tools_called, model,
      error_code)
    SELECT
      'run_' || lpad(to_hex(n), 26, '${bot === BOT_ID ? '0' : 'x'}'),
      '${bot}',
      ${mostly(20_011, 'deployment')},
      (${mostly(499, 'environment')})::"Environment",
      (${mostly(101, 'kind')})::"RunKind",
      (CASE WHEN n % 100003 = 0 THEN 'QUEUED' WHEN n % 37 = 0 THEN 'FAILED' ELSE 'COMPLETED' END)::"RunStatus",
      (${mostly(9_973, 'channel')})::"Channel",
      CASE WHEN n % 20 = 0 THEN '${usual.user}' ELSE 'user-' || n % ${USERS} END,
      'Where is my order ' || n || CASE WHEN n % 50021 = 0 THEN ', a rare word?' ELSE '?' END,
      bench_texts.text,
      moment, moment, moment + interval '1 second',
      CASE WHEN n % 40009 = 0 THEN 30000 + n % 7 ELSE 500 + n % 2000 END,
      CASE WHEN n % 60013 = 0 THEN 5000 ELSE 40 END, 60, '{}', ${mostly(30_011, 'model')},
      CASE WHEN n % 100003 <> 0 AND n % 37 = 0 THEN
        CASE WHEN n % 7919 = 0 THEN 'model_timeout' ELSE 'model_error' END END
    FROM generate_series(1, ${count}) AS n JOIN bench_texts ON bench_texts.id = n % ${TEXTS},
      LATERAL (SELECT timestamptz '2026-01-01T00:00:00Z' + n * interval '${DAYS} days' / ${count} AS moment) AS at`;
}
