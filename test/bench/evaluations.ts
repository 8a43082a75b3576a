import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { startServer } from './child.ts';
import { createClient } from './client.ts';
import { percentile, runRound } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type Target, type TargetOptions } from './targets.ts';
import { createConversation } from './workload.ts';

/** Recorded runs that an evaluation repeats. */
const RUNS = 500;
/** Evaluations of each measurement, and chats without an evaluation. */
export type EvaluationPlan = { rounds: number; chats: number };
/** Chats at a time beside an evaluation. */
const CONNECTIONS = 2;
const POLL_MS = 50;

/**
 * Measures evaluations of 500 recorded runs with a model that answers at once, on PostgreSQL: the CPU time of Parley and of
 * PostgreSQL for each case, the time of an evaluation, and the latency of chats of the same account without one and beside
 * one.
 */
export async function benchEvaluations(
  { rounds, chats }: EvaluationPlan,
  { postgresUrl, ...options }: TargetOptions & { postgresUrl: string },
): Promise<void> {
  const { signal, stack } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const parley = await startParley('Parley', `${url}/v1`, options, databaseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  stack.defer(() => agent.destroy());
  const send = createClient(parley, 'json', agent);
  const chat = async (connections: number, count: number, until = signal) => {
    const conversations = Array.from({ length: connections }, createConversation);
    const limits = { ms: Number.POSITIVE_INFINITY, chats: count };
    const round = await runRound(parley, send, conversations, limits, until);
    signal.throwIfAborted();
    const [failure] = round.failures;
    if (failure !== undefined) throw new Error(`A chat failed: ${failure}\n${parley.output()}`);
    return round;
  };
  await chat(32, RUNS);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  stack.defer(() => client.end());
  const evaluate = () => evaluateRuns(parley, client, signal);
  await evaluate();

  const before = await parley.figures();
  const postgres = await readPostgresCost(databaseUrl);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await evaluate());
  const after = await parley.figures();
  const afterPostgres = await readPostgresCost(databaseUrl);
  const cases = rounds * RUNS;
  const rows = [
    ['Parley CPU of a case', `${((after.cpuMs - before.cpuMs) / cases).toFixed(2)} ms`],
    [
      'PostgreSQL CPU of a case',
      `${((afterPostgres.cpuMs - postgres.cpuMs) / cases).toFixed(2)} ms`,
    ],
    [
      'transactions of a case',
      ((afterPostgres.transactions - postgres.transactions) / cases).toFixed(1),
    ],
    [`time of ${RUNS} cases, median`, `${percentile(times, 0.5).toFixed(1)} s`],
  ];

  console.log(`${align(rows)}\n`);

  await chat(CONNECTIONS, chats / 4);
  const alone = await chat(CONNECTIONS, chats);
  const ended = new AbortController();
  const evaluations = (async () => {
    for (let round = 0; round < rounds; round += 1) await evaluate();
    ended.abort();
  })();
  const beside = await chat(
    CONNECTIONS,
    Number.POSITIVE_INFINITY,
    AbortSignal.any([signal, ended.signal]),
  );
  await evaluations;
  console.log(`Parley CPU of a chat: ${alone.cpu.toFixed(2)} ms\n`);
  const latencies = (['p50', 'p99'] as const).map((part) => [
    part,
    `${alone[part].toFixed(1)} ms`,
    `${beside[part].toFixed(1)} ms`,
  ]);
  console.log(`${align([['chats', 'alone', 'beside an evaluation'], ...latencies])}\n`);
}

/** Repeats the newest runs with the definition that they had. @returns the seconds until the evaluation has ended. */
async function evaluateRuns(
  { chatUrl, headers, output }: Target,
  client: pg.Client,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const active = await client.query<{ id: string }>(
    'SELECT deployment_id AS id FROM active_deployments WHERE bot_id = $1',
    [BOT_ID],
  );
  const response = await fetch(new URL('evaluations', chatUrl), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      deployment_id: active.rows[0]?.id,
      tests: false,
      replay: { last: RUNS },
    }),
  });
  const { evaluation_id: id } = (await response.json()) as { evaluation_id?: string };
  if (!id) throw new Error(`No evaluation started.\n${output()}`);
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await client.query<{ status: string; passed: number }>(
      'SELECT status, passed FROM evaluations WHERE id = $1 AND finished_at IS NOT NULL',
      [id],
    );
    const [evaluation] = rows;
    if (evaluation?.passed === RUNS) return (performance.now() - startedAt) / 1_000;
    if (evaluation)
      throw new Error(`${evaluation.status}, ${evaluation.passed} passed.\n${output()}`);
    await setTimeout(POLL_MS);
  }
}
