import { createClient } from 'graphql-ws';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeKeys } from '../helpers/keys.ts';
import { linkRedis } from '../helpers/redis.ts';
import { slowReads } from '../helpers/slow-reads.ts';

const UPDATE = `mutation ($id: ID!, $input: UpdateAccountInput!) {
  updateAccount(id: $id, input: $input) { id }
}`;
const LIMIT = '{ viewer { rateLimit { perMinute } } }';

/** Reads the limit per minute that the next request gets, over REST, GraphQL, and an existing WebSocket. */
const limitReaders = async (app: TestApp, { apiKey, headers }: Tenant, bot: string) => {
  const client = createClient({
    url: app.webSocketUrl,
    connectionParams: { Authorization: `Bearer ${apiKey}` },
  });
  type Answer = { viewer: { rateLimit: { perMinute: number } } };
  const bySocket = async () => {
    for await (const { data } of client.iterate<Answer>({ query: LIMIT })) {
      return data?.viewer.rateLimit.perMinute;
    }
    return undefined;
  };
  await bySocket();
  return {
    dispose: () => client.dispose(),
    readers: [
      async () => {
        const response = await fetch(`${app.url}/v1/bots/${bot}/deployments`, { headers });
        return Number(response.headers.get('x-ratelimit-limit'));
      },
      async () => (await app.graphql(apiKey, LIMIT)).data.viewer.rateLimit.perMinute,
      bySocket,
    ],
  };
};

const operator = async (app: TestApp) =>
  (await app.tenant()).key({ scopes: Object.values(KeyScope) });

describe('a caller with a changed account', () => {
  test('is read once for all simultaneous requests', async () => {
    const app = await startApp();
    const secret = await (await app.tenant()).key();
    let reads = 0;
    const { apiKey } = app.prisma;
    const countingKeys = new Proxy(apiKey, {
      get: (target, name, receiver) => {
        if (name === 'findUnique') reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const counting = new Proxy(app.prisma, {
      get: (target, name, receiver) =>
        name === 'apiKey' ? countingKeys : Reflect.get(target, name, receiver),
    });
    const keys = makeKeys({ prisma: counting, pubsub: createPubSub() });
    const { cacheEntry } = await keys.verify(secret);
    expect(reads).toBe(1);
    const renewed = await Promise.all([1, 2, 3].map(() => cacheEntry?.renew('v1')));
    expect(renewed.map((caller) => caller?.cacheEntry?.version)).toEqual(['v1', 'v1', 'v1']);
    expect(reads).toBe(2);
  });

  test('is refused at once if its key was revoked', async () => {
    const app = await startApp();
    const secret = await (await app.tenant()).key();
    const keys = makeKeys({ prisma: app.prisma, pubsub: createPubSub() });
    // The caller is remembered for a second, which does not end in this test.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const { key, cacheEntry } = await keys.verify(secret);
    await app.prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
    await keys.verify(secret);
    await expect(cacheEntry?.renew('v1')).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(keys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  test('is remembered for a second since before its read, which may miss a change', async () => {
    const app = await startApp();
    const secret = await (await app.tenant()).key();
    const slow = slowReads(app.prisma, 'apiKey');
    const keys = makeKeys({ prisma: slow.prisma, pubsub: createPubSub() });
    await keys.verify(secret);
    slow.pass(500);
    // The cache reads the clock once a millisecond.
    const readsOfNext = () => keys.verify(secret).then(slow.reads);
    await expect.poll(readsOfNext).toBe(2);
  });
});

describe.skipIf(!inject('redisUrl'))('two replicas with one Redis', () => {
  const replica = async () => {
    const { redis } = await linkRedis();
    return startApp({ redis });
  };

  test('use a changed account from the next request on', async () => {
    const [here, there] = await Promise.all([replica(), replica()]);
    const tenant = await here.tenant({ requestsPerMinute: 1_000 });
    const bot = await tenant.bot();
    const key = await operator(here);
    const { readers, dispose } = await limitReaders(there, tenant, bot);
    for (let round = 1; round <= 20; round += 1) {
      const perMinute = 1_000 + round;
      const input = { requestsPerMinute: perMinute };
      await here.graphql(key, UPDATE, { id: tenant.accountId, input });
      const next = readers[round % readers.length];
      expect(await next?.()).toBe(perMinute);
      // Fill the caches with the changed account, so that they are stale in the next round.
      await Promise.all(readers.map((read) => read()));
    }
    await dispose();
  });

  test('count a request once if its account has changed', async () => {
    const [here, there] = await Promise.all([replica(), replica()]);
    const tenant = await here.tenant({ requestsPerDay: 100 });
    const bot = await tenant.bot();
    const key = await operator(here);
    const remaining = async () => {
      const { headers } = tenant;
      const response = await fetch(`${there.url}/v1/bots/${bot}/deployments`, { headers });
      return Number(response.headers.get('x-ratelimit-remaining'));
    };
    expect(await remaining()).toBe(99);
    await here.graphql(key, UPDATE, { id: tenant.accountId, input: { requestsPerDay: 50 } });
    expect(await remaining()).toBe(48);
    expect(await remaining()).toBe(47);
  });

  test('refuse a revoked key and its tokens from the next request on', async () => {
    const [here, there] = await Promise.all([replica(), replica()]);
    const tenant = await here.tenant();
    const bot = await tenant.bot();
    for (let round = 0; round < 10; round += 1) {
      const secret = await tenant.key();
      const { data } = await there.graphql(
        secret,
        `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "u" }) { token } }`,
      );
      const { token } = data.createSessionToken;
      const chat = `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { runId } }`;
      expect((await there.graphql(token, chat)).errors).toBeUndefined();
      const viewer = await there.graphql(secret, '{ viewer { apiKey { id } } }');
      const { id } = viewer.data.viewer.apiKey;
      await here.graphql(tenant.apiKey, `mutation { revokeApiKey(id: "${id}") { id } }`);
      const refused = await Promise.all([there.graphql(secret, LIMIT), there.graphql(token, chat)]);
      expect(refused.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([
        'INVALID_API_KEY',
        'INVALID_API_KEY',
      ]);
    }
  });
});
