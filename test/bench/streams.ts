import { Agent } from 'node:http';
import { startServer } from './child.ts';
import { createClient } from './client.ts';
import { runRound } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { prepareParley, startTarget, type TargetOptions } from './targets.ts';
import { createConversation } from './workload.ts';

/** Chats whose model streams an answer. */
type Case = {
  name: string;
  /** Of the model: deltas, characters of each, and milliseconds before each. */
  model: [deltas: number, characters: number, pauseMs: number];
  connections: number;
  chats: number;
};

const CASES: Case[] = [
  { name: '3 s, 60 deltas, 32 at once', model: [60, 12, 50], connections: 32, chats: 128 },
  { name: '3 s, 60 deltas, 500 at once', model: [60, 12, 50], connections: 500, chats: 1_000 },
  { name: '20 s, 40 KB, one at a time', model: [400, 100, 50], connections: 1, chats: 2 },
  { name: '40 KB at once, one at a time', model: [400, 100, 0], connections: 1, chats: 20 },
];
const WARM_UP = 200;

/**
 * Measures streamed chats of several seconds on PostgreSQL: the CPU time of Parley and of PostgreSQL, transactions and
 * write-ahead log for each chat.
 *
 * @param root of another checkout of Parley to measure in place of this one.
 */
export async function benchStreams(
  options: TargetOptions & { postgresUrl: string },
  root?: URL,
): Promise<void> {
  const rows = [['', 'Parley CPU ms', 'PostgreSQL CPU ms', 'transactions', 'WAL KB', 'memory MB']];
  for (const each of CASES) rows.push([each.name, ...(await measure(each, options, root))]);
  console.log(`For each chat:\n\n${align(rows)}\n`);
}

async function measure(
  { model, connections, chats }: Case,
  { postgresUrl, ...options }: TargetOptions & { postgresUrl: string },
  root: URL | undefined,
): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const { signal } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const start = (args: number[]) =>
    startServer({ file: 'paced-upstream.ts', args: args.map(String), signal, stack });
  const { url } = await start(model);
  const server = await prepareParley(
    'Parley',
    `${url}/v1`,
    { ...options, stack },
    databaseUrl,
    root,
  );
  const parley = await startTarget(server, stack);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  stack.defer(() => agent.destroy());
  const send = createClient(parley, 'streamed', agent);
  const run = async (count: number, at: number) => {
    const conversations = Array.from({ length: at }, createConversation);
    const limits = { ms: Number.POSITIVE_INFINITY, chats: count };
    const round = await runRound(parley, send, conversations, limits, signal);
    signal.throwIfAborted();
    const [failure] = round.failures;
    if (failure !== undefined) throw new Error(`A chat failed: ${failure}\n${parley.output()}`);
    return round;
  };
  if (connections > 1) await run(WARM_UP, Math.min(WARM_UP, connections));
  else await run(1, 1);
  const before = await readPostgresCost(databaseUrl);
  const { cpu } = await run(chats, connections);
  const after = await readPostgresCost(databaseUrl);
  const { memory } = await parley.figures();
  return [
    cpu.toFixed(2),
    ((after.cpuMs - before.cpuMs) / chats).toFixed(2),
    ((after.transactions - before.transactions) / chats).toFixed(1),
    ((after.walBytes - before.walBytes) / chats / 1_000).toFixed(0),
    (memory / 1e6).toFixed(0),
  ];
}
