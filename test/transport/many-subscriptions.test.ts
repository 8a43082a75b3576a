import { createClient as createEventClient } from 'graphql-sse';
import { type Client, createClient } from 'graphql-ws';
import { Agent, fetch, type RequestInit } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { objectCounts, expectNoLeak } from '../helpers/leaks.ts';
import { readFrames } from '../helpers/readers.ts';
import { rounds } from '../helpers/rounds.ts';

const KEYS = rounds(5, 20);
/** So many a key may have open at once. */
const OF_EACH_KEY = 100;

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** Subscriptions that are open: when each was told something, in their order, and how they are dropped. */
type Opened = { told: Promise<unknown>[]; drop(): unknown };
type Way = (secret: string, queries: string[]) => Opened;

type Result = { errors?: readonly unknown[] | undefined };

/** Waits for the first result, which must be none of errors. */
function firstOf() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const next = ({ errors }: Result) => (errors ? reject(errors) : resolve());
  return { told: promise, sink: { next, error: reject, complete: () => {} } };
}

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });

/** The connections of the clients, which are closed when all that was open on them has been dropped. */
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
      const { told, sink } = firstOf();
      return { told, complete: client.subscribe({ query }, sink) };
    });
    return {
      told: each.map(({ told }) => told),
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
      const { told, sink } = firstOf();
      return { told, complete: client.subscribe({ query }, sink) };
    });
    return {
      told: each.map(({ told }) => told),
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
    return { told: queries.map(read), drop: () => client.abort() };
  };

/** The ways in which subscriptions are opened and dropped. */
const WAYS: Way[] = [
  overWebSocket('complete'),
  overWebSocket('dispose'),
  overWebSocket('terminate'),
  overOneConnection('complete'),
  overOneConnection('dispose'),
  overRequests('/graphql/stream'),
  overRequests('/graphql'),
];

/** Of each ten, two are told nothing until something happens. */
const isQuiet = (index: number) => index % 10 > 7;

const queryOf = (index: number, runId: string) => {
  if (!isQuiet(index)) return `subscription { runEvents(runId: "${runId}") { __typename } }`;
  const field = index % 2 ? 'runChanged' : 'deploymentChanged';
  return `subscription { ${field}(botId: "${bot}") { id } }`;
};

/** A run that is at work until nobody reads it any more. */
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

/** Makes news for those who wait for some. */
async function makeNews() {
  app.upstream.script(({ end }) => end());
  await (await tenant.chat(bot, { message: 'Hi' })).text();
  const { errors } = await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source }) { id } }',
    { id: bot, source: agent() },
  );
  expect(errors).toBeUndefined();
}

/** Opens so many with each key, in all ways, and drops them when each was told something. */
async function openAndDrop(secrets: string[], ofEachKey: number) {
  connections = new Agent();
  const run = await beginRun();
  const queries = Array.from({ length: ofEachKey }, (_, index) => queryOf(index, run.id));
  const share = Math.ceil(ofEachKey / WAYS.length);
  const opened = secrets.flatMap((secret) =>
    WAYS.map((open, way) => open(secret, queries.slice(way * share, (way + 1) * share))),
  );
  const told = opened.flatMap((one) => one.told);
  expect(told).toHaveLength(secrets.length * ofEachKey);
  await Promise.all(told.filter((_, index) => !isQuiet(index % ofEachKey)));
  let isWaiting = true;
  const all = Promise.all(told).finally(() => {
    isWaiting = false;
  });
  while (isWaiting) await makeNews();
  await all;
  run.leave();
  await Promise.all(opened.map(({ drop }) => drop()));
  // Its last reader has left, by whichever way it came.
  const { prisma } = app;
  const status = async () => (await prisma.run.findUnique({ where: { id: run.id } }))?.status;
  await expect.poll(status).toBe('CANCELLED');
  // The server counts a stream of a key until it has read that the client is gone.
  await expect.poll(app.openSockets).toBe(0);
  await expect.poll(app.openResponses).toBe(0);
  await connections.close();
}

/** Far less than any one of the ways opens. */
const FEW = 20;
const FEW_BYTES = 8 * 1024 * 1024;

describe('many subscriptions that are opened and dropped in every way', () => {
  test('leave nothing behind', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const secrets = await Promise.all(Array.from({ length: KEYS }, () => tenant.key()));
    await openAndDrop(secrets, 2 * WAYS.length);
    const before = await objectCounts();

    // There is room for all of them: those before are not counted any more.
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

/** Has so many operations refused on one WebSocket, every second of which its client gives up at once. */
async function askInVain(client: Client, count: number) {
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

describe('operations that are refused', () => {
  test('leave nothing behind on their WebSocket, which goes on', async () => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(tenant.apiKey),
      lazy: false,
      retryAttempts: 0,
    });
    await askInVain(client, 100);
    const before = await objectCounts();
    for (let round = 0; round < 5; round += 1) await askInVain(client, 100);
    await expectNoLeak(before, { signals: FEW });
    await client.dispose();
  });
});
