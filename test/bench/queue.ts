import { startServer } from './child.ts';
import { freshDatabase, query } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { BOT_ID, prepareParley, startTarget, type TargetOptions } from './targets.ts';

/** Background runs of each case. */
const RUNS = 2_000;
const PROCESSES = [1, 2];
const POLL_MS = 50;

/**
 * Measures background runs with a model that answers at once, on PostgreSQL: how many end in a second, and the CPU time of
 * Parley and of PostgreSQL for each. The account has the largest plan. The runs are enqueued before the processes that
 * execute them start.
 *
 * @param root of another checkout of Parley to measure in place of this one.
 */
export async function benchQueue(
  options: TargetOptions & { postgresUrl: string },
  root?: URL,
): Promise<void> {
  const rows = [['', 'runs/s', 'Parley CPU ms', 'PostgreSQL CPU ms', 'transactions']];
  for (const processes of PROCESSES)
    rows.push([`${processes} processes`, ...(await measure(processes, options, root))]);
  console.log(`${RUNS} background runs; figures for each run:\n\n${align(rows)}\n`);
}

async function measure(
  processes: number,
  { postgresUrl, ...options }: TargetOptions & { postgresUrl: string },
  root: URL | undefined,
): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const { signal } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const own = { ...options, stack };
  const server = await prepareParley('Parley', `${url}/v1`, own, databaseUrl, root);
  await enqueue(databaseUrl);
  const before = await readPostgresCost(databaseUrl);
  const startedAt = performance.now();
  const workers = await Promise.all(
    Array.from({ length: processes }, () => startTarget(server, stack)),
  );
  const atStart = await Promise.all(workers.map(({ figures }) => figures()));
  const left = await countLeft(databaseUrl);
  const measuredFrom = performance.now();
  while ((await countLeft(databaseUrl)) > 0) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (performance.now() - startedAt > 600_000) throw new Error('The queue is not empty.');
  }
  const seconds = (performance.now() - measuredFrom) / 1_000;
  const atEnd = await Promise.all(workers.map(({ figures }) => figures()));
  const after = await readPostgresCost(databaseUrl);
  const cpuMs = atEnd.reduce(
    (sum, { cpuMs }, index) => sum + cpuMs - (atStart[index]?.cpuMs ?? 0),
    0,
  );
  return [
    (left / seconds).toFixed(0),
    (cpuMs / left).toFixed(2),
    ((after.cpuMs - before.cpuMs) / RUNS).toFixed(2),
    ((after.transactions - before.transactions) / RUNS).toFixed(1),
  ];
}

/** Stores queued runs as a request does. */
async function enqueue(url: string): Promise<void> {
  await query(url, "UPDATE accounts SET plan = 'ENTERPRISE'");
  await query(
    url,
    `INSERT INTO runs (id, bot_id, environment, kind, status, channel, input, background, account_id, attempt, on_disconnect)
     SELECT 'run_' || lpad(number::text, 26, '0'), bots.id, 'PRODUCTION', 'EXECUTE', 'QUEUED', 'API', 'Hi', true,
       account_id, 0, 'CONTINUE'
     FROM bots, generate_series(1, ${RUNS}) AS number WHERE bots.id = '${BOT_ID}'`,
  );
}

async function countLeft(url: string): Promise<number> {
  const [row] = await query<{ left: number }>(
    url,
    "SELECT count(*)::int AS left FROM runs WHERE status IN ('QUEUED', 'RUNNING')",
  );
  return row?.left ?? 0;
}
