import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const CREATE_ACCOUNT = `mutation ($input: CreateAccountInput!) {
  createAccount(input: $input) { secret account { id name plan } apiKey { scopes bots { id } } }
}`;
const CREATE_KEY = `mutation ($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { secret apiKey { id name prefix scopes bots { id } expiresAt } }
}`;
const VIEWER = '{ viewer { account { id } apiKey { id } } }';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

const as = (apiKey: string, query: string, variables = {}) => app.graphql(apiKey, query, variables);

describe('accounts', () => {
  const operator = async () => (await app.tenant()).key({ scopes: Object.values(KeyScope) });

  test('are created by an operator, with a key that has every scope except OPERATOR', async () => {
    const { data } = await as(await operator(), CREATE_ACCOUNT, {
      input: { name: '  ACME  ', plan: 'FREE' },
    });
    expect(data.createAccount).toEqual({
      secret: expect.stringMatching(/^parley_sk_/),
      account: { id: expect.stringMatching(/^acc_/), name: 'ACME', plan: 'FREE' },
      apiKey: { scopes: ['CHAT', 'DEPLOY', 'RUNS', 'APPROVE', 'ADMIN'], bots: null },
    });
    const viewer = await as(data.createAccount.secret, VIEWER);
    expect(viewer.data.viewer.account.id).toBe(data.createAccount.account.id);
  });

  test('are returned completely when they are created', async () => {
    const { data, errors } = await as(
      await operator(),
      'mutation { createAccount(input: { name: "A", plan: FREE }) { apiKey { id } account { apiKeys { id } bots { edges { cursor } } } } }',
    );
    expect(errors).toBeUndefined();
    const { apiKey, account } = data.createAccount;
    expect(account).toEqual({ apiKeys: [apiKey], bots: { edges: [] } });
  });

  test('are not created without the scope OPERATOR', async () => {
    const { apiKey } = await app.tenant();
    const { errors } = await as(apiKey, CREATE_ACCOUNT, { input: { name: 'A', plan: 'FREE' } });
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test.each([
    [{ plan: 'ENTERPRISE' }, ['input.requestsPerMinute', 'input.requestsPerDay']],
    [{ plan: 'ENTERPRISE', requestsPerMinute: 5 }, ['input.requestsPerDay']],
    [{ plan: 'PRO', requestsPerDay: 5 }, ['input.requestsPerDay']],
    [{ plan: 'FREE', name: ' ' }, ['input.name']],
    [{ plan: 'ENTERPRISE', requestsPerMinute: 0, requestsPerDay: 5 }, ['input.requestsPerMinute']],
  ])('refuse %j and report every problem', async (input, paths) => {
    const { errors } = await as(await operator(), CREATE_ACCOUNT, {
      input: { name: 'A', ...input },
    });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    const details = errors?.[0]?.extensions.details as { path: string }[];
    expect(details.map(({ path }) => path)).toEqual(paths);
  });

  test('with the plan ENTERPRISE have their own limits', async () => {
    const { data } = await as(await operator(), CREATE_ACCOUNT, {
      input: { name: 'Big', plan: 'ENTERPRISE', requestsPerMinute: 7, requestsPerDay: 9 },
    });
    const { id } = data.createAccount.account;
    expect(await app.prisma.account.findUnique({ where: { id } })).toMatchObject({
      requestsPerMinute: 7,
      requestsPerDay: 9,
    });
  });
});

describe('changing an account', () => {
  const operator = async () => (await app.tenant()).key({ scopes: Object.values(KeyScope) });
  const UPDATE = `mutation ($id: ID!, $input: UpdateAccountInput!) {
    updateAccount(id: $id, input: $input) { id name plan }
  }`;
  const LIMITS = '{ viewer { account { name plan } rateLimit { perMinute perDay } } }';

  test('takes effect at the next request', async () => {
    const key = await operator();
    const { accountId, apiKey } = await app.tenant({ plan: 'FREE' });
    const limits = async () => (await as(apiKey, LIMITS)).data.viewer;
    expect((await limits()).rateLimit).toEqual({ perMinute: 10, perDay: 1_000 });
    const update = async (input: object) => as(key, UPDATE, { id: accountId, input });
    expect((await update({ plan: 'PRO' })).data.updateAccount).toEqual({
      id: accountId,
      name: 'Tenant',
      plan: 'PRO',
    });
    expect((await limits()).rateLimit).toEqual({ perMinute: 60, perDay: 20_000 });
    await update({ plan: 'ENTERPRISE', requestsPerMinute: 70, requestsPerDay: 80, name: ' Big ' });
    await update({ requestsPerMinute: 75 });
    expect(await limits()).toEqual({
      account: { name: 'Big', plan: 'ENTERPRISE' },
      rateLimit: { perMinute: 75, perDay: 80 },
    });
    await update({ plan: 'FREE' });
    expect((await limits()).rateLimit).toEqual({ perMinute: 10, perDay: 1_000 });
  });

  test.each([
    [{ plan: 'ENTERPRISE' }, ['input.requestsPerMinute', 'input.requestsPerDay']],
    [{ requestsPerDay: 5 }, ['input.requestsPerDay']],
    [{ plan: 'ENTERPRISE', requestsPerMinute: 0, requestsPerDay: 1 }, ['input.requestsPerMinute']],
    [{ name: '' }, ['input.name']],
  ])('refuses %j and changes nothing', async (input, paths) => {
    const { accountId } = await app.tenant({ plan: 'PRO' });
    const { errors } = await as(await operator(), UPDATE, { id: accountId, input });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    const details = errors?.[0]?.extensions.details as { path: string }[];
    expect(details.map(({ path }) => path)).toEqual(paths);
    const stored = await app.prisma.account.findUnique({ where: { id: accountId } });
    expect(stored).toMatchObject({ name: 'Tenant', plan: 'PRO', requestsPerDay: null });
  });

  test('requires the scope OPERATOR and an existing account', async () => {
    const { accountId, apiKey } = await app.tenant();
    const code = async (key: string, id: string) =>
      (await as(key, UPDATE, { id, input: {} })).errors?.[0]?.extensions.code;
    expect(await code(apiKey, accountId)).toBe('INSUFFICIENT_SCOPE');
    expect(await code(await operator(), 'acc_nobody')).toBe('NOT_FOUND');
  });
});

describe('API keys', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app.tenant();
  });

  const code = async (apiKey: string) => (await as(apiKey, VIEWER)).errors?.[0]?.extensions.code;

  test('are issued with only the scope CHAT by default, shown once, and stored as a hash', async () => {
    const { data } = await as(tenant.apiKey, CREATE_KEY, { input: { name: 'Web' } });
    const { secret, apiKey } = data.createApiKey;
    expect(apiKey).toMatchObject({
      name: 'Web',
      scopes: ['CHAT'],
      bots: null,
      expiresAt: null,
      prefix: secret.slice(0, 14),
    });
    expect((await as(secret, VIEWER)).data.viewer.apiKey.id).toBe(apiKey.id);
    const read = () => app.prisma.apiKey.findUniqueOrThrow({ where: { id: apiKey.id } });
    expect(JSON.stringify(await read())).not.toContain(secret);
    await expect.poll(async () => (await read()).lastUsedAt).not.toBeNull();
  });

  test('never grant more than the key that issues them has', async () => {
    const bot = await tenant.bot();
    const other = await tenant.bot();
    const soon = new Date(Date.now() + 60_000);
    const issuer = await tenant.key({ scopes: ['ADMIN', 'CHAT'], botIds: [bot], expiresAt: soon });
    const refusal = async (input: object) => {
      const { errors } = await as(issuer, CREATE_KEY, { input: { name: 'X', ...input } });
      return errors?.[0]?.extensions.code;
    };
    expect(await refusal({ scopes: ['CHAT', 'RUNS'] })).toBe('INSUFFICIENT_SCOPE');
    expect(await refusal({ scopes: ['OPERATOR'] })).toBe('INSUFFICIENT_SCOPE');
    expect(await refusal({ botIds: [bot, other] })).toBe('BOT_ACCESS_DENIED');
    const later = new Date(soon.getTime() + 1_000).toISOString();
    expect(await refusal({ expiresAt: later })).toBe('INVALID_REQUEST');

    const { data } = await as(issuer, CREATE_KEY, { input: { name: 'Like mine' } });
    expect(data.createApiKey.apiKey).toMatchObject({
      bots: [{ id: bot }],
      expiresAt: soon.toISOString(),
    });
  });

  test('require the scope ADMIN for issuing, listing and revoking', async () => {
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'RUNS'] });
    for (const operation of [
      'mutation { createApiKey(input: { name: "X" }) { secret } }',
      'mutation { revokeApiKey(id: "key_x") { id } }',
      '{ viewer { account { apiKeys { id } } } }',
    ]) {
      expect((await as(key, operation)).errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    }
  });

  test('can be restricted only to existing bots of the account', async () => {
    const foreignBot = await (await app.tenant()).bot();
    const refusal = async (botIds: string[]) => {
      const { errors } = await as(tenant.apiKey, CREATE_KEY, { input: { name: 'X', botIds } });
      return errors?.[0]?.extensions.code;
    };
    expect(await refusal(['nobody'])).toBe('BOT_NOT_FOUND');
    expect(await refusal([foreignBot])).toBe('BOT_ACCESS_DENIED');
  });

  test('with fewer rights neither see nor revoke keys with more', async () => {
    const owner = await app.tenant();
    const bot = await owner.bot();
    const limited = await owner.key({ scopes: ['ADMIN'], botIds: [bot] });
    const { data } = await as(owner.apiKey, VIEWER);
    const { id } = data.viewer.apiKey;
    const revoked = await as(limited, `mutation { revokeApiKey(id: "${id}") { id } }`);
    expect(revoked.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const seen = await as(limited, '{ viewer { apiKey { id } account { apiKeys { id } } } }');
    expect(seen.data.viewer.account.apiKeys).toEqual([seen.data.viewer.apiKey]);
    expect(await code(owner.apiKey)).toBeUndefined();
  });

  test('stop working at the next request after they are revoked', async () => {
    const { data } = await as(tenant.apiKey, CREATE_KEY, { input: { name: 'Short-lived' } });
    const { secret, apiKey } = data.createApiKey;
    expect(await code(secret)).toBeUndefined();
    const revoke = `mutation { revokeApiKey(id: "${apiKey.id}") { id revokedAt } }`;
    const first = await as(tenant.apiKey, revoke);
    expect(first.data.revokeApiKey.revokedAt).toMatch(/Z$/);
    expect(await code(secret)).toBe('INVALID_API_KEY');
    expect(await as(tenant.apiKey, revoke)).toEqual(first);
  });

  test('stop working when they expire', async () => {
    expect(await code(await tenant.key({ expiresAt: new Date(Date.now() - 1) }))).toBe(
      'INVALID_API_KEY',
    );
  });

  test('cannot be issued with an expiry in the past', async () => {
    const { errors } = await as(tenant.apiKey, CREATE_KEY, {
      input: { name: 'Late', expiresAt: '2020-01-01T00:00:00Z' },
    });
    expect(errors?.[0]?.extensions.details).toEqual([
      { path: 'input.expiresAt', message: 'must be in the future' },
    ]);
  });

  test.each([
    ['a missing header', undefined, 'MISSING_API_KEY'],
    ['another scheme', 'Basic abc', 'MISSING_API_KEY'],
    ['an empty token', 'Bearer ', 'MISSING_API_KEY'],
    ['a malformed key', 'Bearer abc', 'INVALID_API_KEY'],
    ['an unknown key', `Bearer ${makeApiKey()}`, 'INVALID_API_KEY'],
  ])('are required: %s is refused', async (_what, authorization, expected) => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ query: VIEWER }),
    });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: expected } }] });
  });

  test('of another account cannot be seen or revoked, and the account cannot be seen', async () => {
    const other = await app.tenant();
    const { data } = await as(other.apiKey, VIEWER);
    const { errors } = await as(
      tenant.apiKey,
      `mutation { revokeApiKey(id: "${data.viewer.apiKey.id}") { id } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const nodes = await as(
      tenant.apiKey,
      `{ nodes(ids: ["${data.viewer.apiKey.id}", "${other.accountId}", "${tenant.accountId}"]) { id } }`,
    );
    expect(nodes.data.nodes).toEqual([null, null, { id: tenant.accountId }]);
    expect(await code(other.apiKey)).toBeUndefined();
  });
});
