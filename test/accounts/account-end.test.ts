import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { GRAPHQL_READERS, REST_READERS, readWhole } from '../helpers/readers.ts';
import { linkRedis } from '../helpers/redis.ts';
import { hello } from '../helpers/upstream.ts';

const VIEWER = '{ viewer { account { id } } }';

let app: TestApp;
let operator: string;
let operatorAccount: string;
let tenant: Tenant;
/** The milliseconds by which the server's clock is ahead. */
let ahead = 0;
beforeAll(async () => {
  app = await startApp({ clock: () => Date.now() + ahead });
  const own = await app.tenant();
  operator = await own.key({ scopes: Object.values(KeyScope) });
  operatorAccount = own.accountId;
});
beforeEach(async () => {
  // A minute has 30 requests without a valid key, so each test has a minute of its own.
  ahead += 60_000;
  app.upstream.script(hello);
  tenant = await app.tenant();
});

const mutate = (name: string, id: string, by = operator, on = app) =>
  on.graphql(
    by,
    `mutation ($id: ID!) { ${name}(id: $id)${name === 'deleteAccount' ? '' : ' { id suspendedAt }'} }`,
    { id },
  );
type Answer = Awaited<ReturnType<typeof mutate>>;
const codeOf = ({ errors }: Answer) => errors?.[0]?.extensions.code;
const codeWith = async (secret: string, on = app) => codeOf(await on.graphql(secret, VIEWER));

const tokenOf = async ({ graphql }: Tenant, bot: string) => {
  const { data } = await graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "u" }) { token } }`,
  );
  return data.createSessionToken.token as string;
};

const actionsOf = async (accountId: string, targetId: string) => {
  const where = { accountId, targetId };
  const entries = await app.prisma.auditEntry.findMany({ where, orderBy: { id: 'asc' } });
  return entries.map(({ action }) => action);
};

/** Scripts replies that begin, and end only with their connection. */
const replyWithoutEnd = () =>
  app.upstream.script(async ({ say, end, closed }) => {
    say('Hello');
    await closed;
    end();
  });

describe('operators', () => {
  test('list all accounts, newest first, in pages', async () => {
    const second = await app.tenant();
    const query = `query ($after: String) {
      accounts(first: 1, after: $after) { edges { node { id name plan createdAt suspendedAt } } pageInfo { endCursor hasNextPage } }
    }`;
    const page = async (after?: string) =>
      (await app.graphql(operator, query, { after })).data.accounts;
    const first = await page();
    expect(first.edges).toEqual([
      {
        node: {
          id: second.accountId,
          name: 'Tenant',
          plan: 'ENTERPRISE',
          createdAt: expect.stringMatching(/Z$/),
          suspendedAt: null,
        },
      },
    ]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    expect((await page(first.pageInfo.endCursor)).edges[0].node.id).toBe(tenant.accountId);
  });

  test('are the only ones who list, suspend, resume and delete accounts', async () => {
    const other = await app.tenant();
    const { errors } = await tenant.graphql('{ accounts { edges { cursor } } }');
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    for (const name of ['suspendAccount', 'resumeAccount', 'deleteAccount']) {
      expect(codeOf(await mutate(name, other.accountId, tenant.apiKey))).toBe('INSUFFICIENT_SCOPE');
      expect(codeOf(await mutate(name, 'acc_nobody'))).toBe('NOT_FOUND');
    }
    expect(await codeWith(other.apiKey)).toBeUndefined();
  });

  test('cannot suspend or delete their own account', async () => {
    for (const name of ['suspendAccount', 'deleteAccount']) {
      expect(codeOf(await mutate(name, operatorAccount))).toBe('INVALID_REQUEST');
    }
    expect(await codeWith(operator)).toBeUndefined();
  });

  test('that suspend each other at the same time do not both succeed', async () => {
    const keys = await Promise.all(
      [0, 1].map(async () => {
        const { accountId, key } = await app.tenant();
        return { accountId, secret: await key({ scopes: ['OPERATOR'] }) };
      }),
    );
    const [one, two] = keys;
    if (!one || !two) throw new Error('Two operators are required.');
    const answers = await Promise.all([
      mutate('suspendAccount', two.accountId, one.secret),
      mutate('suspendAccount', one.accountId, two.secret),
    ]);
    expect(answers.map(codeOf).toSorted()).toEqual(['INVALID_API_KEY', undefined]);
  });
});

describe('a suspended account', () => {
  test('is refused at the next request of every key and token, until it is resumed', async () => {
    const bot = await tenant.bot();
    const token = await tokenOf(tenant, bot);
    const chat = `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { runId } }`;
    const withToken = async () => codeOf(await app.graphql(token, chat));
    const overRest = async () => (await tenant.chat(bot, { message: 'Hi' })).status;
    expect([await withToken(), await overRest()]).toEqual([undefined, 200]);
    const { data } = await mutate('suspendAccount', tenant.accountId);
    expect(data.suspendAccount.suspendedAt).toMatch(/Z$/);
    expect(await codeWith(tenant.apiKey)).toBe('INVALID_API_KEY');
    expect([await withToken(), await overRest()]).toEqual(['INVALID_API_KEY', 401]);
    expect((await mutate('suspendAccount', tenant.accountId)).data).toEqual(data);
    const resumed = await mutate('resumeAccount', tenant.accountId);
    expect(resumed.data.resumeAccount.suspendedAt).toBeNull();
    await mutate('resumeAccount', tenant.accountId);
    await expect.poll(() => codeWith(tenant.apiKey)).toBeUndefined();
    expect([await withToken(), await overRest()]).toEqual([undefined, 200]);
    for (const accountId of [operatorAccount, tenant.accountId]) {
      expect(await actionsOf(accountId, tenant.accountId)).toEqual([
        'SUSPEND_ACCOUNT',
        'RESUME_ACCOUNT',
      ]);
    }
  });

  test.each(Object.entries(GRAPHQL_READERS))(
    'has its streams closed over %s',
    async (_way, reader) => {
      replyWithoutEnd();
      const { apiKey: secret } = tenant;
      const bot = await tenant.bot();
      const { items } = await readWhole(reader({ app, bot, secret }), () =>
        mutate('suspendAccount', tenant.accountId),
      );
      expect(['INVALID_API_KEY', 'ChatCancelled']).toContain(items.at(-1));
    },
  );

  test.each(Object.entries(REST_READERS))(
    'has its streams closed over REST: %s',
    async (_way, reader) => {
      replyWithoutEnd();
      const { apiKey: secret } = tenant;
      const bot = await tenant.bot();
      const { items } = await readWhole(reader({ app, bot, secret }), () =>
        mutate('suspendAccount', tenant.accountId),
      );
      expect(items.length).toBeGreaterThan(1);
    },
  );

  test('has its queued and active runs cancelled', async () => {
    replyWithoutEnd();
    const bot = await tenant.bot();
    await tenant.graphql(
      `mutation ($bot: ID!) {
        a: execute(botId: $bot, input: { prompt: "x", background: true }) { id }
        b: execute(botId: $bot, input: { prompt: "x", background: true }) { id }
      }`,
      { bot },
    );
    await mutate('suspendAccount', tenant.accountId);
    const runs = await app.prisma.run.findMany({ where: { botId: bot } });
    expect(runs.map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
  });
});

describe('a deleted account', () => {
  test('is removed with all its data, in batches', async () => {
    const bot = await tenant.bot();
    await tenant.bot();
    const token = await tokenOf(tenant, bot);
    const keyed = { 'idempotency-key': 'k', 'x-session-id': 'user-1' };
    await (await tenant.chat(bot, { message: 'Hi' }, keyed)).text();
    await tenant.graphql(
      `mutation { setMemory(botId: "${bot}", sessionId: "user-1", name: "n", value: "v") { id } }`,
    );
    const { accountId } = tenant;
    const action = 'SET_MEMORY' as const;
    const many = Array.from({ length: 1_100 }, (_, index) => ({
      id: makeId('aud'),
      accountId,
      action,
      targetId: `ses_${index}`,
    }));
    await app.prisma.auditEntry.createMany({ data: many });
    const { prisma } = app;
    const ofBots = { botId: bot };
    const left = async () => ({
      accounts: await prisma.account.count({ where: { id: accountId } }),
      keys: await prisma.apiKey.count({ where: { accountId } }),
      bots: await prisma.bot.count({ where: { accountId } }),
      deployments: await prisma.deployment.count({ where: ofBots }),
      runs: await prisma.run.count({ where: ofBots }),
      sessions: await prisma.session.count({ where: ofBots }),
      records: await prisma.idempotencyRecord.count({ where: { accountId } }),
      audit: await prisma.auditEntry.count({ where: { accountId } }),
    });
    expect(Object.values(await left()).every((count) => count > 0)).toBe(true);
    expect((await mutate('deleteAccount', accountId)).data).toEqual({ deleteAccount: accountId });
    expect(Object.values(await left())).toEqual(Array(8).fill(0));
    expect(await codeWith(tenant.apiKey)).toBe('INVALID_API_KEY');
    expect(codeOf(await app.graphql(token, VIEWER))).toBe('INVALID_API_KEY');
    expect(codeOf(await mutate('deleteAccount', accountId))).toBe('NOT_FOUND');
    expect(await actionsOf(operatorAccount, accountId)).toEqual([
      'SUSPEND_ACCOUNT',
      'DELETE_ACCOUNT',
    ]);
    const other = await app.tenant();
    const create = `mutation { createBot(input: { id: "${bot}", name: "B" }) { id } }`;
    expect(codeOf(await other.graphql(create))).toBe('INVALID_REQUEST');
  });

  test('has its streams closed', async () => {
    replyWithoutEnd();
    const bot = await tenant.bot();
    const [reader] = Object.values(GRAPHQL_READERS);
    if (!reader) throw new Error('There is no reader.');
    const { items } = await readWhole(reader({ app, bot, secret: tenant.apiKey }), () =>
      mutate('deleteAccount', tenant.accountId),
    );
    expect(['INVALID_API_KEY', 'ChatCancelled', 'RUN_NOT_FOUND']).toContain(items.at(-1));
  });

  test('stays suspended if its deletion is interrupted, and is deleted by a repeated request', async () => {
    const { accountId } = tenant;
    const now = new Date();
    const data = { suspendedAt: now, deletedAt: now };
    await app.prisma.account.update({ where: { id: accountId }, data });
    expect(codeOf(await mutate('resumeAccount', accountId))).toBe('INVALID_REQUEST');
    expect(await codeWith(tenant.apiKey)).toBe('INVALID_API_KEY');
    expect(codeOf(await mutate('deleteAccount', accountId))).toBeUndefined();
    expect(await app.prisma.account.findUnique({ where: { id: accountId } })).toBeNull();
  });
});

describe.skipIf(!inject('redisUrl'))('replicas', () => {
  test('refuse a suspended or deleted account at the next request', async () => {
    const replica = async () => startApp({ redis: (await linkRedis()).redis });
    const [here, there] = await Promise.all([replica(), replica()]);
    for (const end of ['suspendAccount', 'deleteAccount', 'suspendAccount', 'deleteAccount']) {
      const { accountId, apiKey } = await here.tenant();
      expect(await codeWith(apiKey, there)).toBeUndefined();
      await mutate(end, accountId, operator, here);
      expect(await codeWith(apiKey, there)).toBe('INVALID_API_KEY');
    }
  });
});
