import pg from 'pg';
import { percentile } from './load.ts';
import { freshDatabase, query } from './postgres.ts';
import { align } from './report.ts';
import {
  BUSY_BOT_ID,
  BUSY_DAYS,
  DAYS,
  storeBusyRuns,
  storeRuns,
  untilCounted,
} from './run-store.ts';
import { BOT_ID, startParley, type TargetOptions } from './targets.ts';

/** The number of runs of the bot whose runs are listed. */
const RUNS = 1_000_000;
const PAGE = 50;
const SAMPLES = 20;
const DAY_MS = 24 * 60 * 60 * 1_000;

export type Filter = Record<string, unknown>;

/** Every field of the filter, with values that many runs have and that few runs have. */
export const FIELDS: Record<string, Record<string, Filter>> = {
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
  feedback: { many: { feedback: 'UP' }, few: { feedback: 'DOWN' } },
  text: { many: { text: 'order' }, few: { text: '"rare word"' } },
  date: { a: { date: '2025-02-03' } },
  'from, to': { a: { from: '2025-03-01T00:00:00Z', to: '2025-06-01T00:00:00Z' } },
};

/** Minimums that half of the runs reach, each another half: a page tests every entry of an index. */
const NO_COMMON_RUN: [string, Filter] = [
  'minLatencyMs, minTokens of almost no common run',
  { minLatencyMs: 1_500, minTokens: 140 },
];

export const LIST = `query ($botId: ID!, $filter: RunFilter, $after: String) {
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

const DASHBOARD = `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
  bot(id: $id) {
    id name createdAt
    stats(from: $from, to: $to) {
      runs failed tokens latencyP50 latencyP95 thumbsUp thumbsDown perDay { date runs failed tokens latencyP50 latencyP95 }
    }
    runs(first: ${PAGE}) {
      edges { node { id status kind channel environment user input response createdAt latencyMs tokensUsed } }
    }
  }
}`;

/**
 * Measures pages of 50 among a million runs on PostgreSQL: each field of the filter alone and each pair of fields, with
 * common and with rare values, from the newest run and from the middle of the list. Each figure is the time of a whole
 * response over GraphQL, one at a time.
 */
export async function benchRuns(options: TargetOptions & { postgresUrl: string }): Promise<void> {
  const databaseUrl = await freshDatabase(options.postgresUrl, options.stack);
  const parley = await startParley('Parley', undefined, options, databaseUrl);
  const seconds = await storeRuns(databaseUrl, RUNS);
  console.log(
    `${RUNS} runs, and a fifth of it for another bot, stored in ${seconds.toFixed(0)} s.\n`,
  );

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
  const middle = await list({ to: '2025-07-01T00:00:00Z' });
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
  const to = new Date('2025-12-31T00:00:00Z');
  const lastDays = (id: string, days: number) => ({
    id,
    from: new Date(to.getTime() - days * DAY_MS),
    to,
  });
  await storeBusyRuns(databaseUrl, RUNS);
  await untilCounted(databaseUrl, options.signal);
  for (const [name, query, id, days] of [
    ['Statistics', STATS, BOT_ID, 1],
    ['Statistics', STATS, BOT_ID, 30],
    ['Statistics', STATS, BOT_ID, DAYS],
    ['Statistics', STATS, BUSY_BOT_ID, BUSY_DAYS],
    ['Dashboard', DASHBOARD, BOT_ID, 30],
    ['Dashboard', DASHBOARD, BUSY_BOT_ID, BUSY_DAYS],
  ] as const) {
    const times: number[] = [];
    let runs = 0;
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const { data, ms } = await run(query, lastDays(id, days));
      times.push(ms);
      runs = data.bot.stats.runs;
    }
    const [p50, p95] = [percentile(times, 0.5).toFixed(1), percentile(times, 0.95).toFixed(1)];
    console.log(`${name} of ${runs} runs in ${days} days: p50 ${p50} ms, p95 ${p95} ms.`);
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
  return [['none', {}], ...single.flat(), ...pairs, NO_COMMON_RUN];
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
