import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testRandom } from '../../helpers/random.ts';
import { type Random, seededRandom } from '../../helpers/seeded-random.ts';

const RUNS = 20;
const READERS = 10;
const FRAGMENTS = ['One ', 'two\n', '“three”', ' 4', '', '\uD83D', '\uDE00', 'é', '\\n"', '中文'];
const END = /^Chat(Done|Failed|Cancelled)$/;

let app: TestApp;
let other: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  other = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('tools time');
});

/** An event in a form that both interfaces can be converted to. */
type Read = { seq: number; what: string; delta: string };

/** Reads the events after a position, until the connection is cut. */
type Reader = (runId: string, after: number, random: Random) => Promise<Read[]>;

const NAMES: Record<string, string> = {
  run_started: 'RunStarted',
  tool_started: 'ToolStarted',
  tool_finished: 'ToolFinished',
  done: 'ChatDone',
};

/** Over REST: disconnects after a number of bytes, usually within a frame. */
const overRest: Reader = async (runId, after, random) => {
  const hangUp = new AbortController();
  let bytesLeft = random.int(1, 2_000);
  const { url } = random.pick([app, other]);
  const response = await fetch(`${url}/v1/bots/${bot}/runs/${runId}/events`, {
    headers: { ...tenant.headers, ...(after > 0 && { 'last-event-id': String(after) }) },
    signal: hangUp.signal,
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk.subarray(0, bytesLeft), { stream: true });
    bytesLeft -= chunk.length;
    if (bytesLeft <= 0) break;
  }
  hangUp.abort();
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((frame): Read[] => {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(frame) ?? [];
      if (id === undefined || data === undefined) return [];
      const { event, delta = '' } = JSON.parse(data);
      return [{ seq: Number(id), what: event ? (NAMES[event] ?? event) : 'TextDelta', delta }];
    });
};

/** Over a WebSocket: unsubscribes after a number of events, or terminates the socket. */
const overWebSocket: Reader = async (runId, after, random) => {
  let eventsLeft = random.int(1, 30);
  const client = createClient({
    url: random.pick([app, other]).webSocketUrl,
    connectionParams: { Authorization: tenant.headers.authorization },
    retryAttempts: 0,
  });
  const query = `subscription ($runId: ID!, $after: Int) {
    runEvents(runId: $runId, after: $after) { what: __typename ... on RunStarted { seq } ... on TextDelta { seq delta }
      ... on ToolStarted { seq } ... on ToolFinished { seq }
      ... on ChatDone { seq } ... on ChatFailed { seq } ... on ChatCancelled { seq } }
  }`;
  const read: Read[] = [];
  const events = client.iterate<{ runEvents: Read }>({ query, variables: { runId, after } });
  for await (const { data } of events) {
    if (data) read.push({ ...data.runEvents, delta: data.runEvents.delta ?? '' });
    eventsLeft -= 1;
    if (eventsLeft === 0) break;
  }
  if (random.int(0, 1)) client.terminate();
  else await client.dispose();
  return read;
};

/** Reads a run to its end, reconnecting after each cut. */
async function readWhole(runId: string, reader: Reader, random: Random) {
  const events: Read[] = [];
  let cuts = -1;
  while (!END.test(events.at(-1)?.what ?? '')) {
    cuts += 1;
    events.push(...(await reader(runId, events.length, random)));
  }
  return { events, cuts };
}

/** Begins a run with its own text and pace, and disconnects. */
async function begin(index: number, random: Random) {
  const session = `cut-${index}`;
  const hangUp = new AbortController();
  const response = await fetch(`${random.pick([app, other]).url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    headers: {
      ...tenant.headers,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-session-id': session,
      'x-on-disconnect': 'continue',
    },
    body: JSON.stringify({ message: session, stream: true }),
    signal: hangUp.signal,
  });
  hangUp.abort();
  return response.headers.get('x-run-id') ?? '';
}

describe('streams that are cut at random places', () => {
  test('resume anywhere: no event is lost or repeated, and the text is exact', async () => {
    const random = testRandom();
    const seeds = new Map<string, number>();
    const texts = new Map<string, string>();
    for (let index = 0; index < RUNS; index += 1) {
      seeds.set(`cut-${index}`, random.int(0, 2 ** 30));
    }
    for (const { upstream } of [app, other]) {
      upstream.script(async ({ request, say, call, end }) => {
        const { messages } = request.body;
        const session = messages.find(({ role }) => role === 'user')?.content ?? '';
        const hasCalled = messages.at(-1)?.role === 'tool';
        const own = seededRandom((seeds.get(session) ?? 0) + (hasCalled ? 1 : 0));
        let text = '';
        for (let left = own.int(10, 40); left > 0; left -= 1) {
          const fragment = own.pick(['One ', ...FRAGMENTS]);
          say(fragment);
          text += fragment;
          // The model's pace, so that the cuts fall between and within fragments.
          if (own.int(0, 2) === 0) await delay(own.int(1, 80));
        }
        texts.set(session, (texts.get(session) ?? '') + text.toWellFormed());
        if (hasCalled) end();
        else call(['time_now', {}]);
      });
    }

    const runIds = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => begin(index, random)),
    );
    const streams = runIds.flatMap((runId, run) =>
      Array.from({ length: READERS }, async (_, index) => {
        const reader = index % 2 ? overRest : overWebSocket;
        const whole = await readWhole(runId, reader, seededRandom(random.int(0, 2 ** 30)));
        return { run, ...whole };
      }),
    );
    const whole = await Promise.all(streams);

    const exact = new Map<number, Read[]>();
    for (const { run, events } of whole) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.map(({ delta }) => delta).join('')).toBe(texts.get(`cut-${run}`));
      const first = exact.get(run);
      if (first) expect(events).toEqual(first);
      else exact.set(run, events);
    }
    expect(whole.length).toBe(200);
    expect(whole.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(200);
  });
});
