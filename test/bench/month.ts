import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { percentile } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { align } from './report.ts';
import { type Days, storeRuns, untilCounted } from './run-store.ts';
import { FIELDS, type Filter, LIST } from './runs.ts';
import { BOT_ID, prepareParley, startTarget, type TargetOptions } from './targets.ts';

/** Runs to store, spread over days. */
export type MonthPlan = { runs: number; days: number };
export const MONTH: MonthPlan = { runs: 1_000_000, days: 30 };
export const YEAR: MonthPlan = { runs: 10_000_000, days: 365 };

/** Days of the statistics of a month. */
const DAYS = 30;
const SAMPLES = 20;
/** The time after which a query gets no further samples, because it is slow. */
const LIMIT_MS = 3_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const POLL_MS = 1_000;

const NUMBERS = 'runs failed tokens latencyP50 latencyP95';
const ALL_NUMBERS = `${NUMBERS} thumbsUp thumbsDown`;
const statsOf = (fields: string) => `
  query ($botId: ID!, $from: DateTime!, $to: DateTime!, $filter: RunFilter) {
    bot(id: $botId) { stats(from: $from, to: $to, filter: $filter) { ${fields} } }
  }`;
const COUNTS = statsOf(`${NUMBERS} perDay { date ${NUMBERS} }`);
/** What the console asks for, by day or by hour. */
const BY_DAY = statsOf(`${ALL_NUMBERS} perDay { date ${ALL_NUMBERS} }`);
const BY_HOUR = statsOf(`${ALL_NUMBERS} perHour { startedAt ${ALL_NUMBERS} }`);
const BOTS = `query ($from: DateTime!, $to: DateTime!) {
  bots(first: 20) { edges { node { stats(from: $from, to: $to) { runs failed latencyP95 perHour { runs failed } } } } }
}`;
const USAGE = `{ viewer { usage { tokensThisMonth byBot { requests tokens } byKey { requests tokens } } } }`;

/** Filters that select by what totals have. */
const COUNTED: Record<string, Filter> = {
  environment: { environment: 'PRODUCTION' },
  'kind, channel': { kind: 'CHAT', channel: ['API'] },
  status: { status: ['FAILED'] },
};

/**
 * Measures the console's queries for a bot with a million runs in the last month, or ten million in the last year, on
 * PostgreSQL: statistics with and without filters, and the lists of each filter. Each figure is the time of a whole response
 * over GraphQL, one at a time.
 *
 * @param root of another checkout of Parley to measure in place of this one.
 */
export async function benchMonth(
  plan: MonthPlan,
  { postgresUrl, ...options }: TargetOptions & { postgresUrl: string },
  root?: URL,
): Promise<void> {
  const { signal, stack } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const server = await prepareParley('Parley', undefined, options, databaseUrl, root);
  const to = new Date();
  // Short replies, because the index of the search takes minutes for long ones.
  const response = 'left(bench_texts.text, 60)';
  const time: Days = { days: plan.days, end: to.toISOString(), response };
  const seconds = await storeRuns(databaseUrl, plan.runs, time);
  console.log(
    `${plan.runs} runs of ${plan.days} days, and a fifth of it for another bot, stored in ${seconds.toFixed(0)} s.`,
  );
  const parley = await startTarget(server, stack);

  const run = async (query: string, variables: object) => {
    signal.throwIfAborted();
    const start = performance.now();
    const response = await fetch(`${parley.url}/graphql`, {
      method: 'POST',
      headers: { ...parley.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    const ms = performance.now() - start;
    const { errors } = JSON.parse(text) as { errors?: { extensions?: { code?: string } }[] };
    return { ms, error: errors?.[0]?.extensions?.code ?? (errors ? text : undefined) };
  };
  const lastDays = (days: number, filter?: Filter) => ({
    botId: BOT_ID,
    from: new Date(to.getTime() - days * DAY_MS).toISOString(),
    to: to.toISOString(),
    filter: filter ?? null,
  });

  const startedAt = performance.now();
  const first = await run(BY_DAY, lastDays(DAYS));
  console.log(`The first statistics after the start: ${first.ms.toFixed(0)} ms.`);
  await untilReady(databaseUrl, signal);
  const waited = (performance.now() - startedAt) / 1_000;
  console.log(`All runs are counted ${waited.toFixed(0)} s after the start.\n`);

  const rows = [['', 'p50 ms', 'largest ms', 'answer']];
  const measure = async (name: string, query: string, variables: object) => {
    const times: number[] = [];
    const startedAt = performance.now();
    let { error: answer = '' } = await run(query, variables);
    do {
      const { ms, error } = await run(query, variables);
      times.push(ms);
      answer = error ?? answer;
    } while (times.length < SAMPLES && performance.now() < startedAt + LIMIT_MS);
    const figures = [percentile(times, 0.5), percentile(times, 1)].map((ms) => ms.toFixed(1));
    rows.push([name, ...figures, answer]);
  };

  await measure('statistics of the month, without ratings', COUNTS, lastDays(DAYS));
  await measure('statistics of the month', BY_DAY, lastDays(DAYS));
  await measure('statistics of 7 days by hour', BY_HOUR, lastDays(7));
  await measure('statistics of a day by hour', BY_HOUR, lastDays(1));
  if (plan.days > DAYS) await measure('statistics of all days', BY_DAY, lastDays(plan.days));
  for (const [name, filter] of Object.entries(COUNTED))
    await measure(`statistics of the month, ${name}`, COUNTS, lastDays(DAYS, filter));
  await measure('bots with their last day', BOTS, lastDays(1));
  await measure('usage of the month', USAGE, {});
  for (const [name, filter] of filters(to)) {
    await measure(`list, ${name}`, LIST, { botId: BOT_ID, filter, after: null });
    await measure(`statistics of the month, ${name}`, BY_DAY, lastDays(DAYS, filter));
  }
  console.log(`${align(rows)}\n`);
}

/** Each field of the filter, with its values. */
function filters(end: Date): [string, Filter][] {
  const day = new Date(end.getTime() - (DAYS / 2) * DAY_MS).toISOString().slice(0, 10);
  const fields = { ...FIELDS, date: { a: { date: day } }, 'from, to': {} };
  const all = Object.entries(fields).flatMap(([field, values]) =>
    Object.entries(values).map(([value, filter]): [string, Filter] => [
      value === 'a' ? field : `${field} of ${value}`,
      filter,
    ]),
  );
  return [['no filter', {}], ...all];
}

/** Waits until totals are stored. Another checkout may store those of earlier versions, after the first statistics. */
async function untilReady(databaseUrl: string, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const read = async <Row extends object>(text: string) =>
    (await client.query<Row>(text)).rows[0] as Row;
  try {
    const { exists } = await read<{ exists: boolean }>(
      `SELECT to_regclass('run_totals_range') IS NOT NULL AS exists`,
    );
    if (exists) return await untilCounted(databaseUrl, signal);
    const count = async () =>
      (await read<{ rows: number }>('SELECT count(*)::int AS rows FROM run_hours')).rows;
    for (let before = -1, now = await count(); now === 0 || now !== before; ) {
      await setTimeout(POLL_MS, undefined, { signal });
      before = now;
      now = await count();
    }
  } finally {
    await client.end();
  }
}
