import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { actorOf } from '../../src/accounts/audit.ts';
import { hashApiKey } from '../../src/accounts/key-format.ts';
import { createBots } from '../../src/bots/bots.ts';
import { createMemoryVersions } from '../../src/coordination/cache-versions.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { createActiveDeployments } from '../../src/deployments/active.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { makeKeys } from '../helpers/keys.ts';
import { linkRedis } from '../helpers/redis.ts';
import { slowReads } from '../helpers/slow-reads.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const deploy = async (at: TestApp, bot: string, prompt: string) => {
  const answer = await fetch(`${at.url}/v1/bots/${bot}/deploy`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ agentlang: agent(`prompt "${prompt}"`) }),
  });
  expect(await answer.json()).toMatchObject({ status: 'deployed' });
};

/** Chats with a bot. @returns the prompt that its model received. */
const promptOf = async (at: TestApp, bot: string) => {
  const answer = await fetch(`${at.url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: '{"message": "Hi"}',
  });
  expect(answer.status).toBe(200);
  return at.upstream.requests.at(-1)?.body.messages[0]?.content;
};

describe('the active deployment of a bot', () => {
  test('is read once while its version is unchanged, and each time if the version is unknown', async () => {
    const bot = await tenant.bot();
    // The deployment is remembered for a second, which does not end in this test.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    let reads = 0;
    const prisma = new Proxy(app.prisma, {
      get: (target, name, receiver) => {
        if (name === 'activeDeployment') reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const { find } = createActiveDeployments({ prisma, cipher: testCipher });
    const first = await find(bot, 'PRODUCTION', '1');
    expect(await find(bot, 'PRODUCTION', '1')).toBe(first);
    expect(reads).toBe(1);
    await find(bot, 'PRODUCTION', '2');
    expect(reads).toBe(2);
    await find(bot, 'PRODUCTION');
    await find(bot, 'PRODUCTION');
    expect(reads).toBe(4);
    await expect(find(bot, 'STAGING', '2')).rejects.toMatchObject({ code: 'bot_not_deployed' });
  });

  test('is remembered for a second since before its read, which may miss a deploy', async () => {
    const bot = await tenant.bot();
    const slow = slowReads(app.prisma, 'activeDeployment');
    const { find } = createActiveDeployments({ prisma: slow.prisma, cipher: testCipher });
    await find(bot, 'PRODUCTION', '1');
    slow.pass(500);
    await find(bot, 'PRODUCTION', '1');
    expect(slow.reads()).toBe(2);
  });

  test('is the new definition from the next request on', async () => {
    const bot = await tenant.bot('prompt "Number 0."');
    expect(await promptOf(app, bot)).toBe('Number 0.');
    for (let number = 1; number <= 5; number += 1) {
      await deploy(app, bot, `Number ${number}.`);
      expect(await promptOf(app, bot)).toBe(`Number ${number}.`);
    }
  });
});

test('the account of a bot is remembered for a second since before its read', async () => {
  const bot = await tenant.bot();
  const parts = { pubsub: createPubSub(), versions: createMemoryVersions() };
  const caller = await makeKeys({ prisma: app.prisma, ...parts }).verify(tenant.apiKey);
  const slow = slowReads(app.prisma, 'bot');
  const { authorize } = createBots({ prisma: slow.prisma, ...parts });
  await authorize(caller, bot);
  slow.pass(500);
  await authorize(caller, bot);
  expect(slow.reads()).toBe(2);
});

describe('a notification from another replica', () => {
  test('about a revoked key is applied', async () => {
    const pubsub = createPubSub();
    const [one, other] = [0, 1].map(() => makeKeys({ prisma: app.prisma, pubsub }));
    if (!one || !other) throw new Error('Two replicas are required.');
    const caller = await one.verify(await tenant.key());
    const secret = await tenant.key();
    const { key } = await other.verify(secret);
    await one.revoke(caller, key.id);
    await expect(other.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  test('about a deleted bot is applied', async () => {
    const parts = { prisma: app.prisma, pubsub: createPubSub(), versions: createMemoryVersions() };
    const [one, other] = [createBots(parts), createBots(parts)];
    const bot = await tenant.bot();
    const caller = await makeKeys({ ...parts }).verify(tenant.apiKey);
    await other.authorize(caller, bot);
    await one.remove(bot, actorOf(caller));
    await expect(other.authorize(caller, bot)).rejects.toMatchObject({ code: 'bot_not_found' });
  });

  test('about a key during its own verification causes no internal error', async () => {
    const pubsub = createPubSub();
    const keys = makeKeys({ prisma: app.prisma, pubsub });
    const caller = await keys.verify(tenant.apiKey);
    const secret = await tenant.key();
    const verifying = keys.verify(secret);
    pubsub.publish('keys:revoked', hashApiKey(secret));
    expect((await verifying).account).toEqual(caller.account);
  });
});

describe.skipIf(!inject('redisUrl'))('two replicas with one Redis', () => {
  const replica = async () => {
    const link = await linkRedis();
    return { ...link, app: await startApp({ redis: link.redis }) };
  };

  test('use a new definition from the next request on, regardless of the replica that deployed it', async () => {
    const [one, other] = await Promise.all([replica(), replica()]);
    const bot = await tenant.bot('prompt "Number 0."');
    expect(await promptOf(other.app, bot)).toBe('Number 0.');
    for (let number = 1; number <= 10; number += 1) {
      const [here, there] = number % 2 ? [one, other] : [other, one];
      await deploy(here.app, bot, `Number ${number}.`);
      expect(await promptOf(there.app, bot)).toBe(`Number ${number}.`);
      expect(await promptOf(here.app, bot)).toBe(`Number ${number}.`);
    }
  });

  test('use a new definition even if either of them has lost Redis', async () => {
    const [one, other] = await Promise.all([replica(), replica()]);
    const bot = await tenant.bot('prompt "Old."');
    await promptOf(other.app, bot);
    await one.cut();
    let isDeployed = false;
    const chats = async () => {
      while (!isDeployed) await promptOf(other.app, bot);
    };
    const chatting = chats();
    await deploy(one.app, bot, 'New.');
    isDeployed = true;
    await chatting;
    expect(await promptOf(other.app, bot)).toBe('New.');
    await deploy(other.app, bot, 'Newer.');
    expect(await promptOf(one.app, bot)).toBe('Newer.');
  });
});
