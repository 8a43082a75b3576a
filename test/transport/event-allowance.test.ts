import { createClient as createEventClient } from 'graphql-sse';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/accounts/caller.ts';
import { createEventAllowance } from '../../src/transport/graphql/event-allowance.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { WAYS } from '../helpers/transports.ts';

const callerOf = (id: string, plan = 'FREE') => ({ account: { id, plan } }) as Caller;
const SIGNAL = new AbortController().signal;

/** An allowance whose clock goes on only while an event waits. */
function clocked() {
  let now = 0;
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
    now += ms;
  };
  return { allowance: createEventAllowance({ now: () => now, wait }), waits, now: () => now };
}

describe('the events of an account', () => {
  test('wait for nothing within a second’s points of its plan', async () => {
    const { allowance, waits } = clocked();
    for (let event = 0; event < 5; event += 1) await allowance.take(callerOf('a'), 20, SIGNAL);
    expect(waits).toEqual([]);
  });

  test('take as many points a second as its plan allows', async () => {
    const { allowance, now } = clocked();
    for (let event = 0; event < 105; event += 1) await allowance.take(callerOf('a'), 20, SIGNAL);
    expect(now()).toBeGreaterThan(19_000);
    expect(now()).toBeLessThan(21_000);
    const large = clocked();
    for (let event = 0; event < 105; event += 1)
      await large.allowance.take(callerOf('a', 'BUSINESS'), 20, SIGNAL);
    expect(large.now()).toBeLessThan(2_000);
  });

  test('count the bytes of an event once they are known', async () => {
    const { allowance, now } = clocked();
    await allowance.take(callerOf('a'), 1, SIGNAL);
    allowance.spend(callerOf('a'), 16 * 1024 * 1024);
    await allowance.take(callerOf('a'), 1, SIGNAL);
    // 256 points for 16 MiB, of which a second has 100.
    expect(now()).toBeGreaterThan(1_500);
    expect(now()).toBeLessThan(1_700);
  });

  test('do not wait for the events of another account', async () => {
    const never = Promise.withResolvers<void>();
    const allowance = createEventAllowance({ now: () => 0, wait: () => never.promise });
    allowance.spend(callerOf('a'), 1e9);
    void allowance.take(callerOf('a'), 1, SIGNAL);
    await allowance.take(callerOf('b'), 1, SIGNAL);
  });

  test('take turns, so that no subscription of the account stands still', async () => {
    const { allowance } = clocked();
    const order: string[] = [];
    const read = async (name: string, points: number) => {
      for (let event = 0; event < 20; event += 1) {
        await allowance.take(callerOf('a'), points, SIGNAL);
        order.push(name);
      }
    };
    await Promise.all([read('heavy', 20), read('light', 1)]);
    expect(order.slice(0, 20).filter((name) => name === 'light')).toHaveLength(10);
  });

  test('are not resolved once their subscription ends, whether they wait or are next to wait', async () => {
    const end = new AbortController();
    const allowance = createEventAllowance();
    allowance.spend(callerOf('a'), 1e12);
    const waiting = allowance.take(callerOf('a'), 1, end.signal);
    const queued = allowance.take(callerOf('a'), 1, end.signal);
    end.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await expect(queued).rejects.toThrow('aborted');
    await expect(allowance.take(callerOf('b'), 1, end.signal)).rejects.toThrow('aborted');
  });
});

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

describe('a subscription whose events are too heavy', () => {
  test.each(['SSE', 'SSE on one connection', 'WebSocket', 'HTTP'] as const)(
    'is refused before it starts: %s',
    async (way) => {
      const query = `subscription { runChanged(botId: "${bot}") { prompt { parts { text } } } }`;
      expect(await WAYS[way](app, tenant.apiKey, { query })).toMatchObject([
        {
          errors: [
            {
              message: expect.stringMatching(/^Each event takes 21 points of work; at most 20/),
              extensions: { code: 'INVALID_REQUEST' },
            },
          ],
        },
      ]);
    },
  );
});

test('events within the limits arrive', async () => {
  const client = createEventClient({ url: `${app.url}/graphql/stream`, headers: tenant.headers });
  const events = client.iterate({
    query: `subscription { runChanged(botId: "${bot}") { id bot { sessions(first: 10) { edges { node { id } } } } } }`,
  });
  const first = events.next();
  let isOver = false;
  const chats = (async () => {
    while (!isOver) await tenant.chat(bot, { message: 'Hi' });
  })();
  for (let event = await first, count = 0; count < 10; event = await events.next(), count += 1) {
    expect(event.value.errors).toBeUndefined();
    expect(event.value.data.runChanged.bot.sessions.edges).toEqual(expect.any(Array));
  }
  isOver = true;
  await events.return?.();
  await chats;
});
