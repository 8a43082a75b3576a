import { beforeAll, describe, expect, test } from 'vitest';
import { hashApiKey } from '../../src/accounts/key-format.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

type Entry = { action: string; keyId: string | null; botId: string | null; targetId: string };

const LOG = `query ($first: Int, $after: String, $filter: AuditFilter) {
  viewer { account { auditLog(first: $first, after: $after, filter: $filter) {
    edges { cursor node { action keyId botId targetId } } pageInfo { hasNextPage endCursor }
  } } }
}`;

const logOf = async (apiKey: string, variables = {}): Promise<Entry[]> => {
  const { data } = await app.graphql(apiKey, LOG, { first: 100, ...variables });
  return data.viewer.account.auditLog.edges.map(({ node }: { node: Entry }) => node);
};

const keyIdOf = async (secret: string) =>
  (await app.prisma.apiKey.findUniqueOrThrow({ where: { hash: hashApiKey(secret) } })).id;

const operator = async () => (await app.tenant()).key({ scopes: Object.values(KeyScope) });

const post = (tenant: Tenant, path: string, body: object, more = {}) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });

const CHANGES = `mutation ($bot: ID!, $source: String!) {
  createBot(input: { name: "canary-bot" }) { id }
  deploy(botId: $bot, input: {
    source: $source, environment: STAGING, message: "canary-note",
    envVars: [{ name: "TOKEN", value: "canary-value" }]
  }) { id }
  createApiKey(input: { name: "canary-key" }) { secret apiKey { id } }
  setMemory(botId: $bot, sessionId: "canary-user", name: "canary_name", value: "canary-fact") { id }
  forgetSession(botId: $bot, sessionId: "canary-user")
}`;

describe('the audit log', () => {
  test('names the key, the action and the object, newest first, and contains no values', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const keyId = await keyIdOf(tenant.apiKey);
    const { data } = await tenant.graphql(CHANGES, { bot, source: agent() });
    const made = data.createApiKey.apiKey.id;
    const later = await tenant.graphql(
      `mutation ($bot: ID!, $staging: ID!, $key: ID!, $new: ID!) {
        promote(botId: $bot, deploymentId: $staging) { id }
        revokeApiKey(id: $key) { id }
        deleteBot(id: $new)
      }`,
      { bot, staging: data.deploy.id, key: made, new: data.createBot.id },
    );
    expect(later.errors).toBeUndefined();
    const entry = (action: string, targetId: string, botId: string | null = null) => ({
      action,
      keyId,
      botId,
      targetId,
    });
    expect(await logOf(tenant.apiKey)).toEqual([
      entry('DELETE_BOT', data.createBot.id, data.createBot.id),
      entry('REVOKE_API_KEY', made),
      entry('PROMOTE', later.data.promote.id, bot),
      entry('FORGET_SESSION', data.setMemory.id, bot),
      entry('SET_MEMORY', data.setMemory.id, bot),
      entry('CREATE_API_KEY', made),
      entry('DEPLOY', data.deploy.id, bot),
      entry('CREATE_BOT', data.createBot.id, data.createBot.id),
    ]);
    const rows = await app.prisma.auditEntry.findMany({ where: { accountId: tenant.accountId } });
    const stored = JSON.stringify(rows);
    expect(stored).not.toContain('canary');
    expect(stored).not.toContain(data.createApiKey.secret.slice(10, 20));
  });

  test('records changes over REST, once for a repeated request, and includes failed deployments', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const keyId = await keyIdOf(tenant.apiKey);
    const again = { 'idempotency-key': 'deploy-1' };
    const deploy = (agentlang: string, more = {}) =>
      post(tenant, `/v1/bots/${bot}/deploy`, { agentlang }, more).then((answer) => answer.json());
    const first = await deploy(agent(), again);
    expect(await deploy(agent(), again)).toEqual(first);
    const failed = await deploy('nonsense');
    expect(failed.status).toBe('failed');
    const path = `/v1/bots/${bot}/deployments/${first.deployment_id}/rollback`;
    const back = await (await post(tenant, path, {})).json();
    expect(await logOf(tenant.apiKey)).toEqual([
      { action: 'ROLLBACK', keyId, botId: bot, targetId: back.deployment_id },
      { action: 'DEPLOY_FAILED', keyId, botId: bot, targetId: failed.deployment_id },
      { action: 'DEPLOY', keyId, botId: bot, targetId: first.deployment_id },
    ]);
  });

  test('records an operator in both logs, without the key in the log of the other account', async () => {
    const key = await operator();
    const { data } = await app.graphql(
      key,
      'mutation { createAccount(input: { name: "A", plan: PRO }) { secret account { id } } }',
    );
    const { secret, account } = data.createAccount;
    await app.graphql(key, `mutation { updateAccount(id: "${account.id}", input: {}) { id } }`);
    const entries = (keyId: string | null) =>
      ['UPDATE_ACCOUNT', 'CREATE_ACCOUNT'].map((action) => ({
        action,
        keyId,
        botId: null,
        targetId: account.id,
      }));
    expect(await logOf(secret)).toEqual(entries(null));
    expect(await logOf(key)).toEqual(entries(await keyIdOf(key)));
  });

  test('records every key that is revoked with its creator, each once', async () => {
    const tenant = await app.tenant();
    const scopes = ['ADMIN', 'CHAT'];
    const create = (apiKey: string) =>
      app.graphql(
        apiKey,
        'mutation ($scopes: [KeyScope!]) { createApiKey(input: { name: "K", scopes: $scopes }) { secret apiKey { id } } }',
        { scopes },
      );
    const one = (await create(tenant.apiKey)).data.createApiKey;
    const two = (await create(one.secret)).data.createApiKey;
    const revoke = `mutation { revokeApiKey(id: "${one.apiKey.id}", withCreated: true) { id } }`;
    await tenant.graphql(revoke);
    await tenant.graphql(revoke);
    const revoked = await logOf(tenant.apiKey, { filter: { action: 'REVOKE_API_KEY' } });
    expect(revoked.map(({ targetId }) => targetId).toSorted()).toEqual(
      [one.apiKey.id, two.apiKey.id].toSorted(),
    );
  });

  test('is written in the transaction of the change', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const staging = await tenant.bot();
    const spare = await keyIdOf(await tenant.key());
    const key = await operator();
    const count = async () => ({
      bots: await app.prisma.bot.count({ where: { accountId: tenant.accountId } }),
      deployments: await app.prisma.deployment.count({ where: { botId: bot } }),
      keys: await app.prisma.apiKey.count({
        where: { accountId: tenant.accountId, revokedAt: null },
      }),
      sessions: await app.prisma.session.count({ where: { botId: bot } }),
      plan: (await app.prisma.account.findUniqueOrThrow({ where: { id: tenant.accountId } })).plan,
    });
    const before = await count();
    const constraint = `audit_test_${tenant.accountId}`;
    await app.prisma.$executeRawUnsafe(
      `ALTER TABLE audit_entries ADD CONSTRAINT ${constraint} CHECK (account_id <> '${tenant.accountId}')`,
    );
    try {
      const { data, errors } = await tenant.graphql(
        `mutation ($bot: ID!, $staging: ID!, $spare: ID!, $source: String!) {
          createBot(input: { name: "B" }) { id }
          deploy(botId: $bot, input: { source: $source }) { id }
          createApiKey(input: { name: "K" }) { secret }
          revokeApiKey(id: $spare) { id }
          setMemory(botId: $bot, sessionId: "u", name: "n", value: "v") { id }
          deleteBot(id: $staging)
        }`,
        { bot, staging, spare, source: agent() },
      );
      expect(Object.values(data)).toEqual(Array(6).fill(null));
      expect(errors?.every(({ extensions }) => extensions.code === 'INTERNAL_ERROR')).toBe(true);
      const update = `mutation { updateAccount(id: "${tenant.accountId}", input: { plan: FREE }) { id } }`;
      expect((await app.graphql(key, update)).data.updateAccount).toBeNull();
    } finally {
      await app.prisma.$executeRawUnsafe(`ALTER TABLE audit_entries DROP CONSTRAINT ${constraint}`);
    }
    expect(await count()).toEqual(before);
    expect(await logOf(tenant.apiKey)).toEqual([]);
  });

  test('has no entry for refused requests', async () => {
    const tenant = await app.tenant();
    const { errors } = await tenant.graphql(`mutation {
      deleteBot(id: "nobody") revokeApiKey(id: "nobody") { id }
      createApiKey(input: { name: "K", scopes: [OPERATOR] }) { secret }
      forgetSession(botId: "${await tenant.bot()}", sessionId: "nobody")
    }`);
    expect(errors).toHaveLength(3);
    expect(await logOf(tenant.apiKey)).toEqual([]);
  });
});

describe('reading the audit log', () => {
  let tenant: Tenant;
  let bots: string[];
  let ids: string[];
  // Recent days: the app's retention sweep deletes entries after 400 days.
  const today = Date.now();
  const dayOf = (index: number) => new Date(today - (10 - index) * 24 * 60 * 60 * 1_000);
  beforeAll(async () => {
    tenant = await app.tenant();
    bots = [await tenant.bot(), await tenant.bot()];
    const { accountId } = tenant;
    ids = [0, 1, 2, 3].map((index) => `aud_${accountId}_${index}`);
    const data = ids.map((id, index) => ({
      id,
      accountId,
      action: index % 2 ? ('DEPLOY' as const) : ('SET_MEMORY' as const),
      keyId: index < 2 ? 'key_one' : 'key_two',
      botId: bots[index % 2] ?? null,
      targetId: id,
      createdAt: dayOf(index),
    }));
    await app.prisma.auditEntry.createMany({ data });
  });

  const found = async (filter: object, apiKey = tenant.apiKey) =>
    (await logOf(apiKey, { filter })).map(({ targetId }) => ids.indexOf(targetId));

  test('filters by action, key, bot and time, with all conditions together', async () => {
    expect(await found({})).toEqual([3, 2, 1, 0]);
    expect(await found({ action: ['DEPLOY'] })).toEqual([3, 1]);
    expect(await found({ keyId: 'key_one' })).toEqual([1, 0]);
    expect(await found({ botId: bots[0] })).toEqual([2, 0]);
    const from = dayOf(1).toISOString();
    expect(await found({ from })).toEqual([3, 2, 1]);
    expect(await found({ from, to: dayOf(2).toISOString() })).toEqual([1]);
    expect(await found({ botId: bots[0], keyId: 'key_two', action: 'SET_MEMORY' })).toEqual([2]);
    expect(await found({ botId: bots[0], action: 'DEPLOY' })).toEqual([]);
  });

  test('pages without gaps or repeats', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { data } = await tenant.graphql(LOG, { first: 3, after });
      const { edges, pageInfo } = data.viewer.account.auditLog;
      seen.push(...edges.map(({ node }: { node: Entry }) => node.targetId));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after);
    expect(seen).toEqual(ids.toReversed());
  });

  test('requires the scope ADMIN', async () => {
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'RUNS'] });
    const { errors } = await app.graphql(key, LOG);
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('shows a restricted key only the entries of its bots, with any filter', async () => {
    const key = await tenant.key({ scopes: ['ADMIN'], botIds: bots.slice(0, 1) });
    expect(await found({}, key)).toEqual([2, 0]);
    expect(await found({ botId: bots[1] }, key)).toEqual([]);
    expect(await found({}, await tenant.key({ scopes: ['ADMIN'], botIds: [] }))).toEqual([]);
  });

  test('shows nothing of another account', async () => {
    const other = await app.tenant();
    const query = `{ node(id: "${tenant.accountId}") { ... on Account { auditLog { edges { cursor } } } } }`;
    expect((await other.graphql(query)).data).toEqual({ node: null });
    expect(await found({ botId: bots[0] }, other.apiKey)).toEqual([]);
  });
});
