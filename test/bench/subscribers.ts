import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { startServer } from './child.ts';
import { createClient, type SendChat } from './client.ts';
import { percentile } from './load.ts';
import { freshDatabase, query } from './postgres.ts';
import { readPostgresCost } from './postgres-cost.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type Target, type TargetOptions } from './targets.ts';
import { createConversation } from './workload.ts';

/** Subscribers of each case, in this order: they stay. */
const SUBSCRIBERS = [0, 300, 1_000];
/** A key has at most 100 subscriptions. */
const PER_KEY = 100;
const CHATS = 40;
const WARM_UP = 100;
/** Longer than every subscriber needs for the events of a chat. */
const PAUSE_MS = 400;

/** Measures single chats of a bot whose runs many clients follow with `runChanged` over SSE, on PostgreSQL. */
export async function benchSubscribers({
  postgresUrl,
  ...options
}: TargetOptions & { postgresUrl: string }): Promise<void> {
  const { signal, stack } = options;
  const upstream = await startServer({ file: 'upstream.ts', signal, stack });
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const parley = await startParley('Parley', `${upstream.url}/v1`, options, databaseUrl);
  await query(databaseUrl, "UPDATE accounts SET plan = 'ENTERPRISE'");
  const agent = new Agent({ keepAlive: true });
  stack.defer(() => agent.destroy());
  const send = createClient(parley, 'json', agent);
  await chat(send, WARM_UP, 0, signal);
  const rows = [['subscribers', 'chat, median ms', 'transactions', 'Parley CPU ms', 'events']];
  const streams: Subscription[] = [];
  for (const subscribers of SUBSCRIBERS) {
    while (streams.length < subscribers) {
      const key = await makeKey(parley);
      for (let index = 0; index < PER_KEY; index += 1) {
        const stream = await subscribe(parley, key);
        stack.defer(() => void stream.response.destroy());
        streams.push(stream);
      }
    }
    await chat(send, 5, PAUSE_MS, signal);
    const before = await Promise.all([parley.figures(), readPostgresCost(databaseUrl)]);
    const events = streams.reduce((sum, stream) => sum + stream.events, 0);
    const latencies = await chat(send, CHATS, PAUSE_MS, signal);
    const after = await Promise.all([parley.figures(), readPostgresCost(databaseUrl)]);
    const received = streams.reduce((sum, stream) => sum + stream.events, 0) - events;
    rows.push([
      String(subscribers),
      percentile(latencies, 0.5).toFixed(1),
      ((after[1].transactions - before[1].transactions) / CHATS).toFixed(1),
      ((after[0].cpuMs - before[0].cpuMs) / CHATS).toFixed(1),
      (received / CHATS).toFixed(0),
    ]);
  }
  console.log(`For each chat, one at a time, with what ran between two chats:\n\n${align(rows)}\n`);
}

/** @returns the latencies, in milliseconds. */
async function chat(send: SendChat, chats: number, pauseMs: number, signal: AbortSignal) {
  const next = createConversation();
  const latencies: number[] = [];
  for (let count = 0; count < chats; count += 1) {
    const { latency, failure } = await send(next());
    if (failure !== undefined) throw new Error(`A chat failed: ${failure}`);
    latencies.push(latency);
    await setTimeout(pauseMs, undefined, { signal });
  }
  return latencies;
}

async function makeKey({ chatUrl, headers }: Target): Promise<string> {
  const response = await fetch(new URL('/graphql', chatUrl), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'mutation { createApiKey(input: { name: "Subscriber", scopes: [RUNS] }) { secret } }',
    }),
  });
  const text = await response.text();
  const secret: unknown = JSON.parse(text).data?.createApiKey?.secret;
  if (typeof secret === 'string') return secret;
  throw new Error(`No key: ${text}`);
}

type Subscription = { response: IncomingMessage; events: number };

/** Follows the runs of the bot on a connection of its own. */
function subscribe({ chatUrl }: Target, key: string): Promise<Subscription> {
  const body = JSON.stringify({
    query: 'subscription ($bot: ID!) { runChanged(botId: $bot) { id status input response } }',
    variables: { bot: BOT_ID },
  });
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: false as const, headers };
    const call = request(new URL('/graphql', chatUrl), options, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`Status ${response.statusCode}`));
      const subscription = { response, events: 0 };
      response.setEncoding('utf8').on('data', (text: string) => {
        subscription.events += text.split('event: next').length - 1;
      });
      response.on('error', () => {});
      resolve(subscription);
    });
    call.on('error', reject);
    call.end(body);
  });
}
