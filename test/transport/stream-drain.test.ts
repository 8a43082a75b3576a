import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { closeEvenly, createOpenStreams } from '../../src/transport/stream-drain.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

/** A clock whose pauses end when the test says so. */
function fakeClock() {
  const pauses: { ms: number; end: () => void }[] = [];
  return {
    pauses,
    pause: (ms: number) => new Promise<void>((resolve) => pauses.push({ ms, end: resolve })),
  };
}

describe('streams', () => {
  test('are closed one after another, evenly over the time', async () => {
    const times: number[] = [];
    let now = 0;
    const closers = Array.from({ length: 40 }, () => () => void times.push(now));
    await closeEvenly(closers, 5_000, async (ms) => {
      now += ms;
    });
    expect(times).toHaveLength(40);
    expect([times[0], times[8], times.at(-1)]).toEqual([0, 1_000, 4_875]);
  });

  test('of a large number are closed in groups of the same size', async () => {
    const perPause: number[] = [0];
    const closers = Array.from({ length: 10_000 }, () => () => {
      perPause.push((perPause.pop() ?? 0) + 1);
    });
    await closeEvenly(closers, 5_000, async () => void perPause.push(0));
    expect(perPause).toEqual(Array.from({ length: 100 }, () => 100));
  });

  test('that end before their turn are not closed', async () => {
    const streams = createOpenStreams();
    const closed: string[] = [];
    const removals: (() => void)[] = [];
    streams.add(() => {
      closed.push('first');
      for (const remove of removals) remove();
    });
    removals.push(streams.add(() => void closed.push('second')));
    await closeEvenly(streams.all(), 5_000, async () => {});
    expect(closed).toEqual(['first']);
  });

  test('need no pause if there is one or none', async () => {
    const { pause, pauses } = fakeClock();
    await closeEvenly([], 5_000, pause);
    await closeEvenly([() => {}], 5_000, pause);
    expect(pauses).toEqual([]);
  });
});

describe('a shutdown', () => {
  let other: TestApp;
  let tenant: Tenant;
  let query: string;
  beforeAll(async () => {
    other = await startApp();
    tenant = await other.tenant();
    query = `subscription { runChanged(botId: "${await tenant.bot()}") { id } }`;
  });

  /** Subscribes by an event stream. @returns its whole text, when it ends. */
  async function subscribe(app: TestApp): Promise<{ text: Promise<string> }> {
    const response = await fetch(`${app.url}/graphql/stream`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        accept: 'text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(200);
    return { text: response.text() };
  }

  async function openSocket(app: TestApp): Promise<WebSocket> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    const payload = { Authorization: tenant.headers.authorization };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await once(socket, 'message');
    return socket;
  }

  test('closes event streams with a time to retry, and WebSockets with 1012, at an even pace', async () => {
    const app = await startApp();
    const { text } = await subscribe(app);
    const socket = await openSocket(app);
    const closedSocket = once(socket, 'close');
    const { pause, pauses } = fakeClock();
    const closed = app.close(0, { streamsMs: 5_000, pause });
    await expect.poll(() => pauses.map(({ ms }) => ms)).toEqual([2_500]);
    // One of the two is closed before the pause, and the other one after it.
    expect(app.openSockets() + app.openResponses()).toBeGreaterThan(0);
    pauses[0]?.end();
    expect(await text).toMatch(/retry: 1000\n\n/);
    expect((await closedSocket)[0]).toBe(1012);
    await closed;
  });

  test('accepts requests and reports that it is closing until balancers have noticed', async () => {
    const app = await startApp();
    const { pause, pauses } = fakeClock();
    const closed = app.close(0, { delayMs: 7_000, pause });
    await expect.poll(() => pauses.map(({ ms }) => ms)).toEqual([7_000]);
    const ready = await fetch(`${app.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'closing', missing: [] }]);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    pauses[0]?.end();
    await closed;
    await expect(fetch(`${app.url}/healthz`)).rejects.toThrow();
  });
});
