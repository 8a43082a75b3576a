import { setTimeout } from 'node:timers/promises';
import { freshDatabase } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { prepareParley, startTarget, type TargetOptions } from './targets.ts';

/** The start is over by then. */
const SETTLE_MS = 20_000;
const MEASURED_S = 60;

/** Measures a process without requests: transactions, CPU time and memory, on PostgreSQL, with Redis and embedded. */
export async function benchIdle({
  postgresUrl,
  redisUrl,
  ...others
}: TargetOptions & { postgresUrl: string }): Promise<void> {
  const options = { ...others, env: { BENCH_LAG: 'off' } };
  const rows = [['', 'transactions/s', 'Parley CPU', 'PostgreSQL CPU', 'memory']];
  rows.push(await measure('PostgreSQL', options, postgresUrl));
  if (redisUrl)
    rows.push(await measure('PostgreSQL, Redis', { ...options, redisUrl }, postgresUrl));
  rows.push(await measure('embedded', options, undefined));
  console.log(`A process without requests, for ${MEASURED_S} seconds:\n\n${align(rows)}\n`);
}

async function measure(
  name: string,
  options: Omit<TargetOptions, 'postgresUrl'>,
  postgresUrl: string | undefined,
): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const { signal } = options;
  const databaseUrl = postgresUrl && (await freshDatabase(postgresUrl, stack));
  const server = await prepareParley(name, undefined, { ...options, stack }, databaseUrl);
  const { figures } = await startTarget(server, stack);
  const cost = () => (databaseUrl ? readPostgresCost(databaseUrl) : undefined);
  await setTimeout(SETTLE_MS, undefined, { signal });
  const [before, costBefore] = await Promise.all([figures(), cost()]);
  await setTimeout(MEASURED_S * 1_000, undefined, { signal });
  const [after, costAfter] = await Promise.all([figures(), cost()]);
  const percent = (ms: number) => `${(ms / MEASURED_S / 10).toFixed(2)} %`;
  const megabytes = `${Math.round(after.memory / 1e6)} MB`;
  const parley = percent(after.cpuMs - before.cpuMs);
  if (!costBefore || !costAfter) return [name, '-', parley, '-', megabytes];
  // The two reads of the cost are transactions, too.
  const transactions = costAfter.transactions - costBefore.transactions - 1;
  const postgres = percent(costAfter.cpuMs - costBefore.cpuMs);
  return [name, (transactions / MEASURED_S).toFixed(2), parley, postgres, megabytes];
}
