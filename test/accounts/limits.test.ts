import { describe, expect, inject, test } from 'vitest';
import { ADDRESS_LIMIT, createLimits } from '../../src/accounts/limits.ts';
import {
  createMemoryCounter,
  createSharedCounter,
  type FixedWindowCounter,
} from '../../src/coordination/fixed-window-counter.ts';
import type { Account, Plan } from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/text/ids.ts';
import { PLANS, type PlanLimits } from '../../src/vocabulary/plans.ts';
import { linkRedis } from '../helpers/redis.ts';

const NOON = Date.UTC(2026, 10, 20, 12) / 1_000;
const MIDNIGHT = Date.UTC(2026, 10, 21) / 1_000;
const silent = { warn: () => {}, error: () => {} };

/** In-memory limits at a time that the test sets, in Unix seconds. */
function limitsAt(seconds: number) {
  let now = seconds;
  const counter = () => createMemoryCounter(() => now * 1_000);
  return {
    ...createLimits({ accounts: counter(), addresses: counter() }),
    setTime: (next: number) => {
      now = next;
    },
  };
}

const limitsOf = (counter: FixedWindowCounter) =>
  createLimits({ accounts: counter, addresses: counter });

const account = (plan: Plan, numbers: Partial<Account> = {}): Account => ({
  id: makeId('acc'),
  name: 'Account',
  plan,
  requestsPerMinute: null,
  requestsPerDay: null,
  createdAt: new Date(0),
  suspendedAt: null,
  deletedAt: null,
  ...numbers,
});

const enterprise = (requestsPerMinute: number, requestsPerDay: number) =>
  account('ENTERPRISE', { requestsPerMinute, requestsPerDay });

describe('plans', () => {
  test('have the documented requests a minute and a day', () => {
    const requests = Object.values<PlanLimits>(PLANS).map((plan) => plan.requests);
    expect(requests).toEqual([
      { perMinute: 10, perDay: 1_000 },
      { perMinute: 60, perDay: 20_000 },
      { perMinute: 300, perDay: 200_000 },
      undefined,
    ]);
  });

  test.each([
    ['FREE', 10],
    ['PRO', 60],
    ['BUSINESS', 300],
  ] as const)('allow an account on %s %i requests a minute', async (plan, perMinute) => {
    const { takeForAccount } = limitsAt(NOON);
    const tenant = account(plan);
    for (let left = perMinute - 1; left >= 0; left -= 1) {
      expect(await takeForAccount(tenant, 1)).toMatchObject({ allowed: true, remaining: left });
    }
    expect(await takeForAccount(tenant, 1)).toMatchObject({
      allowed: false,
      perMinute,
      remaining: 0,
      reset: NOON + 60,
      retryAfter: 60,
    });
  });

  test('of the type ENTERPRISE have their own two numbers', async () => {
    const { takeForAccount } = limitsAt(NOON);
    expect(await takeForAccount(enterprise(7, 9), 1)).toMatchObject({
      perMinute: 7,
      perDay: 9,
      remainingMinute: 6,
      remainingDay: 8,
    });
  });
});

describe('windows', () => {
  test('are UTC minutes, which end exactly at the full minute', async () => {
    const { takeForAccount, setTime } = limitsAt(NOON + 59);
    const tenant = account('FREE');
    await takeForAccount(tenant, 10);
    expect(await takeForAccount(tenant, 1)).toMatchObject({ allowed: false, retryAfter: 1 });
    setTime(NOON + 60);
    expect(await takeForAccount(tenant, 1)).toMatchObject({
      allowed: true,
      remaining: 9,
      reset: NOON + 120,
    });
  });

  test('are UTC days too, and an exhausted day lasts until midnight', async () => {
    const { takeForAccount, setTime } = limitsAt(MIDNIGHT - 61);
    const tenant = enterprise(10, 12);
    await takeForAccount(tenant, 10);
    setTime(MIDNIGHT - 60);
    expect(await takeForAccount(tenant, 2)).toMatchObject({
      allowed: true,
      remaining: 0,
      remainingMinute: 8,
      reset: MIDNIGHT,
    });
    expect(await takeForAccount(tenant, 1)).toMatchObject({
      allowed: false,
      remaining: 0,
      reset: MIDNIGHT,
      retryAfter: 60,
    });
    setTime(MIDNIGHT);
    expect(await takeForAccount(tenant, 1)).toMatchObject({ allowed: true, remaining: 9 });
  });

  test('count a request completely or not at all, and refusals cost nothing', async () => {
    const { takeForAccount } = limitsAt(NOON);
    const tenant = account('FREE');
    await takeForAccount(tenant, 8);
    expect(await takeForAccount(tenant, 3)).toMatchObject({ allowed: false, remaining: 2 });
    expect(await takeForAccount(tenant, 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await takeForAccount(tenant, 0)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('are separate for each account', async () => {
    const { takeForAccount } = limitsAt(NOON);
    await takeForAccount(account('FREE'), 10);
    expect(await takeForAccount(account('FREE'), 1)).toMatchObject({ allowed: true });
  });
});

describe('an address without a key', () => {
  test('has 30 requests a minute, without a daily limit', async () => {
    const { takeForAddress, setTime } = limitsAt(NOON);
    expect(ADDRESS_LIMIT.perMinute).toBe(30);
    expect(await takeForAddress('192.0.2.1', 30)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await takeForAddress('192.0.2.1', 1)).toMatchObject({ allowed: false });
    expect(await takeForAddress('192.0.2.2', 1)).toMatchObject({ allowed: true });
    setTime(NOON + 60);
    expect(await takeForAddress('192.0.2.1', 1)).toMatchObject({ allowed: true, remaining: 29 });
  });

  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:0DB8:1:2::9'],
  ])('%s is the same client as %s', async (one, other) => {
    const { takeForAddress } = limitsAt(NOON);
    await takeForAddress(one, 30);
    expect(await takeForAddress(other, 1)).toMatchObject({ allowed: false });
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['::1', '2001:db8::1'],
    ['192.0.2.1:4711', '192.0.2.2:4711'],
    ['[2001:db8:1:2::1]:4711', '[2001:db8:1:3::1]:4711'],
  ])('%s is another client than %s', async (one, other) => {
    const { takeForAddress } = limitsAt(NOON);
    await takeForAddress(one, 30);
    expect(await takeForAddress(other, 1)).toMatchObject({ allowed: true });
  });
});

describe.skipIf(!inject('redisUrl'))('limits in Redis', () => {
  const shared = async () => {
    const link = await linkRedis();
    return { ...link, ...limitsOf(createSharedCounter(link.redis, silent)) };
  };

  test('are shared exactly by two replicas', async () => {
    const replicas = await Promise.all([shared(), shared()]);
    // The daily limit, so that no change of minute interferes.
    const tenant = enterprise(1_000, 10);
    const quotas = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? replicas[0] : replicas[1]).takeForAccount(tenant, 1),
      ),
    );
    expect(quotas.filter(({ allowed }) => allowed)).toHaveLength(10);
    expect(await replicas[0].takeForAccount(tenant, 0)).toMatchObject({ remaining: 0 });
  });

  test('of an hour are shared exactly, and restart with a new hour', async () => {
    const links = await Promise.all([linkRedis(), linkRedis()]);
    const replicas = links.map(({ redis }) => createSharedCounter(redis, silent));
    const name = makeId('bot');
    const limit = { perMinute: 1_000, perHour: 10, perDay: 1_000 };
    const counts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => replicas[index % 2]?.take(name, 1, limit)),
    );
    expect(counts.filter((count) => count?.taken)).toHaveLength(10);
    const { redis } = links[0];
    await redis.client.hincrby(`${redis.prefix}windows:${name}`, 'hour', -1);
    expect(await replicas[0]?.take(name, 1, limit)).toMatchObject({ taken: true, inHour: 1 });
  });

  test('restart with a new minute and a new day, and expire', async () => {
    const { redis, takeForAccount } = await shared();
    const tenant = enterprise(10, 20);
    const before = Date.now();
    const { reset } = await takeForAccount(tenant, 10);
    const [key = ''] = await redis.client.keys(`*${tenant.id}`);
    expect(await redis.client.ttl(key)).toBeGreaterThan(86_000);
    expect(reset * 1_000).toBeGreaterThan(before);
    await redis.client.hincrby(key, 'minute', -1);
    expect(await takeForAccount(tenant, 4)).toMatchObject({ remainingMinute: 6, remainingDay: 6 });
    await redis.client.hincrby(key, 'minute', -1);
    expect(await takeForAccount(tenant, 7)).toMatchObject({ allowed: false, remaining: 6 });
    await redis.client.hincrby(key, 'day', -1);
    expect(await takeForAccount(tenant, 1)).toMatchObject({ remainingMinute: 9, remainingDay: 19 });
  });

  test('go on from the known counts in a replica’s own memory while its connection is lost', async () => {
    const [one, other] = await Promise.all([shared(), shared()]);
    const tenant = enterprise(1_000, 10);
    await one.takeForAccount(tenant, 4);
    await other.takeForAccount(tenant, 1);
    await one.cut();
    expect(await one.takeForAccount(tenant, 3)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await one.takeForAccount(tenant, 4)).toMatchObject({ allowed: false });
    expect(await other.takeForAccount(tenant, 0)).toMatchObject({ remaining: 5 });
    await one.restore();
    expect(await one.takeForAccount(tenant, 1)).toMatchObject({ allowed: true, remaining: 2 });
    expect(await other.takeForAccount(tenant, 3)).toMatchObject({ allowed: false });
  });

  test('are not below the known counts when a new master has lost them', async () => {
    const [one, other] = await Promise.all([shared(), shared()]);
    const { client, prefix } = other.redis;
    const minute = async () => Math.floor(Number((await client.time())[0]) / 60);
    const attempt = async () => {
      const tenant = enterprise(10, 20);
      await one.takeForAccount(tenant, 8);
      await one.cut();
      const alone = await one.takeForAccount(tenant, 0);
      await client.del(`${prefix}windows:${tenant.id}`);
      await one.restore();
      const again = await one.takeForAccount(tenant, 1);
      return [alone, again, await other.takeForAccount(tenant, 0)];
    };
    // The end of a minute renews the limits, so an attempt counts only if it lies within one.
    let begun = await minute();
    let quotas = await attempt();
    for (let now = await minute(); now !== begun; now = await minute()) {
      begun = now;
      quotas = await attempt();
    }
    expect(quotas).toMatchObject([
      { remainingMinute: 2, remainingDay: 12 },
      { remainingMinute: 1, remainingDay: 11 },
      { remainingMinute: 1, remainingDay: 11 },
    ]);
  });

  test('are counted in memory if Redis rejects the command, which is logged once', async () => {
    const { redis } = await linkRedis();
    const lines: string[] = [];
    const log = { warn: () => {}, error: (_fields: object, line: string) => lines.push(line) };
    const { takeForAccount } = limitsOf(createSharedCounter(redis, log));
    const tenant = enterprise(1_000, 10);
    await redis.client.set(`${redis.prefix}windows:${tenant.id}`, 'no hash');
    expect(await takeForAccount(tenant, 1)).toMatchObject({ allowed: true, remaining: 9 });
    expect(await takeForAccount(tenant, 1)).toMatchObject({ allowed: true, remaining: 8 });
    expect(lines).toEqual([
      'Redis rejected a rate limit command. This process counts limits in its own memory.',
    ]);
  });
});
