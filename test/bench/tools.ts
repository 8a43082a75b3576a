import { Agent } from 'node:http';
import { startServer } from './child.ts';
import { createClient, type SendChat } from './client.ts';
import { runRound } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { prepareParley, startTarget, type Target, type TargetOptions } from './targets.ts';
import { createConversation, HISTORY, PROMPT } from './workload.ts';

const CONNECTIONS = 32;
const WARM_UP = 2_000;
const ROUND = 1_000;
const ROUNDS = 9;

type Measured = {
  name: string;
  databaseUrl: string;
  parley: Target;
  send: SendChat;
  cpu: number[];
};

/**
 * Measures chats in which the model calls one tool that only reads, on PostgreSQL: the CPU time of Parley and of PostgreSQL
 * for each.
 *
 * @param root of another checkout of Parley, which takes turns with this one.
 */
export async function benchTools(
  options: TargetOptions & { postgresUrl: string },
  root?: URL,
): Promise<void> {
  const { signal, stack } = options;
  const upstream = await startServer({ file: 'tool-upstream.ts', signal, stack });
  const all = [await start('now', upstream.url, options)];
  if (root) all.push(await start('before', upstream.url, options, root));
  for (const one of all) await run(one, WARM_UP, signal);
  for (const one of all) one.cpu.length = 0;
  const before = await Promise.all(all.map(({ databaseUrl }) => readPostgresCost(databaseUrl)));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const one of round % 2 === 0 ? all : all.toReversed()) await run(one, ROUND, signal);
  const after = await Promise.all(all.map(({ databaseUrl }) => readPostgresCost(databaseUrl)));
  const rows = all.map(({ name, cpu }, index) => {
    const chats = ROUND * ROUNDS;
    const [start, end] = [before[index], after[index]];
    return [
      name,
      (cpu.reduce((sum, one) => sum + one, 0) / cpu.length).toFixed(3),
      (((end?.cpuMs ?? 0) - (start?.cpuMs ?? 0)) / chats).toFixed(3),
      (((end?.transactions ?? 0) - (start?.transactions ?? 0)) / chats).toFixed(2),
    ];
  });
  const head = ['', 'Parley CPU ms', 'PostgreSQL CPU ms', 'transactions'];
  console.log(`For each chat with one call of a tool that reads:\n\n${align([head, ...rows])}\n`);
}

async function start(
  name: string,
  upstreamUrl: string,
  { postgresUrl, ...options }: TargetOptions & { postgresUrl: string },
  root?: URL,
): Promise<Measured> {
  const { stack } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const env = { PARLEY_ALLOWED_HOSTS: new URL(upstreamUrl).host };
  const server = await prepareParley(
    name,
    `${upstreamUrl}/v1`,
    { ...options, env },
    databaseUrl,
    root,
  );
  const parley = await startTarget(server, stack);
  await deploy(parley, upstreamUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  stack.defer(() => agent.destroy());
  return { name, databaseUrl, parley, send: createClient(parley, 'json', agent), cpu: [] };
}

async function deploy({ chatUrl, headers, output }: Target, toolUrl: string): Promise<void> {
  const agentlang = `agentlang 5
agent "bench" {
  prompt ${JSON.stringify(PROMPT)}
  history last ${HISTORY} messages
  tools shop {
    capability lookup "Find one order" {
      input { order_id string }
      get "${toolUrl}/orders/{{ input.order_id }}"
    }
  }
}
`;
  const response = await fetch(new URL('deploy', chatUrl), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ agentlang }),
  });
  const text = await response.text();
  if (!text.includes('"status":"deployed"')) throw new Error(`Not deployed: ${text}\n${output()}`);
}

async function run({ parley, send, cpu }: Measured, chats: number, signal: AbortSignal) {
  const conversations = Array.from({ length: CONNECTIONS }, createConversation);
  const limits = { ms: Number.POSITIVE_INFINITY, chats };
  const round = await runRound(parley, send, conversations, limits, signal);
  signal.throwIfAborted();
  const [failure] = round.failures;
  if (failure !== undefined) throw new Error(`A chat failed: ${failure}\n${parley.output()}`);
  cpu.push(round.cpu);
}
