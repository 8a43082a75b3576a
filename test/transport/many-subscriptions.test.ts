import { createClient as createEventClient } from 'graphql-sse';
import { type Client, createClient } from 'graphql-ws';
import { Agent, fetch, type RequestInit } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { expectNoLeak, objectCounts } from '../helpers/leaks.ts';
import { readFrames } from '../helpers/readers.ts';
import { rounds } from '../helpers/rounds.ts';

const KEYS = rounds(2, 20);
/** The number of subscriptions of each key, which is its limit. */
const OF_EACH_KEY = 100;

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** Open subscriptions: their first results in order, and a function that drops them. */
type Opened = { received: Promise<unknown>[]; drop(): unknown };
type Way = (secret: string, queries: string[]) => Opened;

type Result = { errors?: readonly unknown[] | undefined };

/** Waits for the first result, which must not contain errors. */
function firstOf() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const next = ({ errors }: Result) => (errors ? reject(errors) : resolve());
  return { received: promise, sink: { next, error: reject, complete: () => {} } };
}

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });

/** The connections of the HTTP clients. They are closed after all streams on them were dropped. */
let connections: Agent;
const fetchOnce = (url: string, init: RequestInit) =>
  fetch(url, { ...init, dispatcher: connections });

const overWebSocket =
  (how: 'complete' | 'dispose' | 'terminate'): Way =>
  (secret, queries) => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(secret),
      retryAttempts: 0,
    });
    const each = queries.map((query) => {
      const { received, sink } = firstOf();
      return { received, complete: client.subscribe({ query }, sink) };
    });
    return {
      received: each.map(({ received }) => received),
      async drop() {
        if (how === 'complete') for (const { complete } of each) complete();
        else await client[how]();
      },
    };
  };

const overOneConnection =
  (how: 'complete' | 'dispose'): Way =>
  (secret, queries) => {
    const client = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: bearer(secret),
      singleConnection: true,
      fetchFn: fetchOnce,
      retryAttempts: 0,
    });
    const each = queries.map((query) => {
      const { received, sink } = firstOf();
      return { received, complete: client.subscribe({ query }, sink) };
    });
    return {
      received: each.map(({ received }) => received),
      drop() {
        if (how === 'complete') for (const { complete } of each) complete();
        else client.dispose();
      },
    };
  };

const overRequests =
  (path: string): Way =>
  (secret, queries) => {
    const client = new AbortController();
    const read = async (query: string) => {
      const response = await fetchOnce(app.url + path, {
        method: 'POST',
        headers: {
          ...bearer(secret),
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify({ query }),
        signal: client.signal,
      });
      const { value } = await readFrames(response).next();
      expect(value).not.toHaveProperty('errors');
    };
    return { received: queries.map(read), drop: () => client.abort() };
  };

/** The ways to open and drop subscriptions. */
const WAYS: Way[] = [
  overWebSocket('complete'),
  overWebSocket('dispose'),
  overWebSocket('terminate'),
  overOneConnection('complete'),
  overOneConnection('dispose'),
  overRequests('/graphql/stream'),
  overRequests('/graphql'),
];

/** Two of each ten subscriptions emit nothing until something changes. */
const isQuiet = (index: number) => index % 10 > 7;

const queryOf = (index: number, runId: string) => {
  if (!isQuiet(index)) return `subscription { runEvents(runId: "${runId}") { __typename } }`;
  const field = index % 2 ? 'runChanged' : 'deploymentChanged';
  return `subscription { ${field}(botId: "${bot}") { id } }`;
};

/** Begins a run that is active until its last reader disconnects. */
async function beginRun() {
  app.upstream.script(async ({ say, closed }) => {
    say('Well');
    await closed;
  });
  const client = new AbortController();
  const response = await fetch(`${app.url}/v1/bots/${bot}/chat/stream?message=Hi`, {
    headers: tenant.headers,
    signal: client.signal,
  });
  return { id: response.headers.get('x-run-id') ?? '', leave: () => client.abort() };
}

/** Causes events for the quiet subscriptions. */
async function causeEvents() {
  app.upstream.script(({ end }) => end());
  await (await tenant.chat(bot, { message: 'Hi' })).text();
  const { errors } = await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source }) { id } }',
    { id: bot, source: agent() },
  );
  expect(errors).toBeUndefined();
}

/** Opens this many subscriptions with each key, in all ways, and drops them after their first results. */
async function openAndDrop(secrets: string[], ofEachKey: number) {
  connections = new Agent();
  const run = await beginRun();
  const queries = Array.from({ length: ofEachKey }, (_, index) => queryOf(index, run.id));
  const share = Math.ceil(ofEachKey / WAYS.length);
  const opened = secrets.flatMap((secret) =>
    WAYS.map((open, way) => open(secret, queries.slice(way * share, (way + 1) * share))),
  );
  const received = opened.flatMap((one) => one.received);
  expect(received).toHaveLength(secrets.length * ofEachKey);
  await Promise.all(received.filter((_, index) => !isQuiet(index % ofEachKey)));
  let isWaiting = true;
  const all = Promise.all(received).finally(() => {
    isWaiting = false;
  });
  while (isWaiting) await causeEvents();
  await all;
  run.leave();
  await Promise.all(opened.map(({ drop }) => drop()));
  // The run ends only after the server has noticed that its last reader disconnected, by any means.
  const { prisma } = app;
  const status = async () => (await prisma.run.findUnique({ where: { id: run.id } }))?.status;
  await expect.poll(status).toBe('CANCELLED');
  // The server counts a stream of a key until it notices that the client disconnected.
  await expect.poll(app.openSockets).toBe(0);
  await expect.poll(app.openResponses).toBe(0);
  await connections.close();
}

/** Far less than one of the ways opens. */
const FEW = 20;
const FEW_BYTES = 8 * 1024 * 1024;

describe('many subscriptions that are opened and dropped in every way', () => {
  test('leak no objects or memory', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const secrets = await Promise.all(Array.from({ length: KEYS }, () => tenant.key()));
    await openAndDrop(secrets, 2 * WAYS.length);
    const before = await objectCounts();

    // The keys' limits allow this only if the earlier subscriptions no longer count.
    await openAndDrop(secrets, OF_EACH_KEY);

    expect(warnings).toEqual([]);
    process.off('warning', warn);
    // Each subscription has a signal, over HTTP a response, and perhaps a set of pending notifications.
    await expectNoLeak(before, {
      activeTimers: 5,
      signals: FEW,
      answers: FEW,
      sets: FEW,
      heapBytes: FEW_BYTES,
    });
  });
});

const REFUSED = [
  { query: '{ bots(first: 100) { edges { node { runs(first: 100) { edges { cursor } } } } } }' },
  { query: 'query Some { __typename }', operationName: 'Other' },
];

/** Sends this many operations that are refused on one WebSocket. The client unsubscribes from every second one at once. */
async function sendRefused(client: Client, count: number) {
  const given = Array.from({ length: count }, (_, index) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = client.subscribe(REFUSED[(index >> 1) % REFUSED.length] ?? { query: '' }, {
      next: () => reject(new Error('It was not refused.')),
      error: resolve,
      complete: () => resolve(undefined),
    });
    if (index % 2) setImmediate(end);
    return promise;
  });
  await Promise.all(given);
}

describe('refused operations', () => {
  test('leak nothing on their WebSocket, which stays open', async () => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(tenant.apiKey),
      lazy: false,
      retryAttempts: 0,
    });
    await sendRefused(client, 100);
    const before = await objectCounts();
    for (let round = 0; round < 5; round += 1) await sendRefused(client, 100);
    await expectNoLeak(before, { signals: FEW });
    await client.dispose();
  });
});
