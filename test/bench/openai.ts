import { Agent } from 'node:http';
import { startServer } from './child.ts';
import { createClient, exchange, type SendChat } from './client.ts';
import { type Round, runRound } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type Target, type TargetOptions } from './targets.ts';
import { ANSWER, createConversation } from './workload.ts';

const CONNECTIONS = 32;
const WARM_UP = 2_000;
const ROUND = 1_000;
const ROUNDS = 9;
const BOTS = 100;

/**
 * Measures OpenAI's API on PostgreSQL: the CPU time of a chat completion in a session next to a chat over REST, and of a
 * list of models with 100 bots.
 */
export async function benchOpenAi({
  postgresUrl,
  ...options
}: TargetOptions & { postgresUrl: string }): Promise<void> {
  const { signal, stack } = options;
  const upstream = await startServer({ file: 'upstream.ts', signal, stack });
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const parley = await startParley('Parley', `${upstream.url}/v1`, options, databaseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  stack.defer(() => agent.destroy());
  await makeBots(parley);
  const origin = new URL(parley.chatUrl).origin;
  const all: { name: string; send: SendChat; cpu: number[] }[] = [
    { name: 'chat over REST', send: createClient(parley, 'json', agent), cpu: [] },
    { name: 'chat completion', send: completions(parley, `${origin}/v1`, agent), cpu: [] },
    { name: `list of ${BOTS} models`, send: models(parley, `${origin}/v1`, agent), cpu: [] },
  ];
  for (const { send } of all) await run(parley, send, WARM_UP, signal);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const one of all) one.cpu.push((await run(parley, one.send, ROUND, signal)).cpu);
  const rows = all.map(({ name, cpu }) => [
    name,
    (cpu.reduce((sum, one) => sum + one, 0) / cpu.length).toFixed(3),
  ]);
  console.log(`For each request:\n\n${align([['', 'Parley CPU ms'], ...rows])}\n`);
}

function completions({ headers }: Target, baseUrl: string, agent: Agent): SendChat {
  const url = new URL(`${baseUrl}/chat/completions`);
  const common = { ...headers, accept: 'application/json', 'content-type': 'application/json' };
  return ({ sessionId, message }) => {
    const body = JSON.stringify({ model: BOT_ID, messages: [{ role: 'user', content: message }] });
    const all = { ...common, 'x-session-id': sessionId };
    return exchange({ url, agent, headers: all, body }, expecting(ANSWER));
  };
}

function models({ headers }: Target, baseUrl: string, agent: Agent): SendChat {
  const url = new URL(`${baseUrl}/models`);
  return () => exchange({ url, agent, headers }, expecting(`"${botId(BOTS - 1)}"`));
}

const botId = (number: number) => `model-${number}`;

const expecting = (part: string) => (status: number | undefined, text: string) =>
  status === 200 && text.includes(part) ? undefined : `${status} ${text.slice(0, 300)}`;

/** Deploys bots, so that with the one that chats there are `BOTS`. */
async function makeBots({ chatUrl, headers, output }: Target): Promise<void> {
  const url = new URL('/graphql', chatUrl);
  const source = 'agentlang 5\nagent "Model" { prompt "Answer." }';
  const query = `mutation ($id: ID!, $source: String!) {
    createBot(input: { id: $id, name: "Model" }) { id }
    deploy(botId: $id, input: { source: $source }) { status }
  }`;
  for (let number = 1; number < BOTS; number += 1) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { id: botId(number), source } }),
    });
    const text = await response.text();
    if (!text.includes('"DEPLOYED"')) throw new Error(`Not deployed: ${text}\n${output()}`);
  }
}

async function run(
  parley: Target,
  send: SendChat,
  requests: number,
  signal: AbortSignal,
): Promise<Round> {
  const conversations = Array.from({ length: CONNECTIONS }, createConversation);
  const limits = { ms: Number.POSITIVE_INFINITY, chats: requests };
  const round = await runRound(parley, send, conversations, limits, signal);
  signal.throwIfAborted();
  const [failure] = round.failures;
  if (failure !== undefined) throw new Error(`A request failed: ${failure}\n${parley.output()}`);
  return round;
}
