import { randomUUID } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { expectNoLeak, objectCounts } from '../../helpers/leaks.ts';
import { rounds } from '../../helpers/rounds.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  app.upstream.script(async ({ say, closed }) => {
    say('Well');
    await closed;
  });
});

const stream = (signal: AbortSignal, headers = {}) =>
  fetch(`${app.url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    headers: {
      ...tenant.headers,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ message: 'Hi', stream: true }),
    signal,
  });

const CANCEL = 'mutation ($id: ID!) { cancelRun(id: $id) { status } }';
/** A request waits 10 seconds for the end of the run, which may take longer on a slow machine. */
const cancel = (runId: string) =>
  expect
    .poll(async () => (await tenant.graphql(CANCEL, { id: runId })).data.cancelRun.status)
    .toBe('CANCELLED');

/** The ways to begin a run that does not complete. */
const WAYS = [
  async function cancelled() {
    const response = await stream(new AbortController().signal);
    await cancel(response.headers.get('x-run-id') ?? '');
    await response.text();
  },

  async function cancelledWithIdempotencyKey() {
    const key = { 'idempotency-key': randomUUID() };
    const response = await stream(new AbortController().signal, key);
    await cancel(response.headers.get('x-run-id') ?? '');
    await response.text();
  },

  async function disconnected() {
    const client = new AbortController();
    await stream(client.signal);
    client.abort();
  },

  async function disconnectedWithFollower() {
    const client = new AbortController();
    const response = await stream(client.signal);
    const events = await fetch(
      `${app.url}/v1/bots/${bot}/runs/${response.headers.get('x-run-id')}/events`,
      { headers: tenant.headers, signal: client.signal },
    );
    await events.body?.getReader().read();
    client.abort();
  },

  async function unsubscribed() {
    const client = createClient({
      url: app.webSocketUrl,
      connectionParams: { Authorization: tenant.headers.authorization },
    });
    const query =
      'subscription ($bot: ID!) { chat(botId: $bot, input: { message: "Hi" }) { ... on TextDelta { delta } } }';
    const events = client.iterate<{ chat: { delta?: string } }>({ query, variables: { bot } });
    for await (const { data } of events) {
      if (data?.chat.delta) break;
    }
    await client.dispose();
  },

  async function leftQueue() {
    const session = { 'x-session-id': randomUUID() };
    const client = new AbortController();
    const first = await stream(client.signal, session);
    const second = stream(client.signal, session).catch(() => {});
    const queued = { where: { session: { sessionId: session['x-session-id'] } } };
    await expect.poll(() => app.prisma.turnWaiter.count(queued)).toBe(1);
    client.abort();
    await second;
    await first.text().catch(() => {});
  },
];

const activeRuns = () => app.prisma.run.count({ where: { botId: bot, status: 'RUNNING' } });

/** Begins this number of runs, fifty at a time, and waits until none is active. */
async function run(count: number) {
  let begun = 0;
  const next = async () => {
    while (begun < count) {
      const way = WAYS[begun % WAYS.length];
      begun += 1;
      await way?.();
    }
  };
  await Promise.all(Array.from({ length: 50 }, next));
  const unfinished = async () => ({
    responses: app.openResponses(),
    sockets: app.openSockets(),
    modelCalls: app.upstream.openResponses(),
    waiters: await app.waiting(),
    runs: await activeRuns(),
  });
  const none = { responses: 0, sockets: 0, modelCalls: 0, waiters: 0, runs: 0 };
  await expect.poll(unfinished).toEqual(none);
}

const RUNS = rounds(300, 1_000);
/** Idle keep-alive connections come and go. A leak in one way leaves more objects than this. */
const FEW = RUNS / WAYS.length / 2;
/** Compiled code also takes memory. A leaked run takes far more than a few KiB. */
const FEW_BYTES = 2 * 1024 * 1024 + RUNS * 6 * 1024;

describe('many runs that are stopped in every way', () => {
  test('leak no objects, rows or memory', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    await run(60);
    const owners = await app.prisma.owner.count();
    const before = await objectCounts();

    await run(RUNS);

    const leased = { botId: bot, leaseId: { not: null } };
    await expect.poll(() => app.prisma.session.count({ where: leased })).toBe(0);
    expect(await app.prisma.owner.count()).toBe(owners);
    const { accountId } = tenant;
    expect(await app.prisma.idempotencyRecord.count({ where: { accountId, runId: null } })).toBe(0);
    const others = { botId: bot, status: { not: 'CANCELLED' } } as const;
    await expect.poll(() => app.prisma.run.count({ where: others })).toBe(0);
    expect(warnings).toEqual([]);
    process.off('warning', warn);
    await expectNoLeak(before, {
      activeTimers: 5,
      timers: FEW,
      signals: FEW,
      answers: FEW,
      sockets: FEW,
      heapBytes: FEW_BYTES,
    });
  });
});
