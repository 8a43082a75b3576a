import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { hashApiKey } from '../../src/accounts/key-format.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { GRAPHQL_READERS, readWhole } from '../helpers/readers.ts';
import { linkRedis } from '../helpers/redis.ts';

const UPDATE = `mutation ($id: ID!, $input: UpdateApiKeyInput!) {
  updateApiKey(id: $id, input: $input) { id name scopes bots { id } expiresAt }
}`;
const ROTATE = `mutation ($id: ID!, $hours: Int) {
  rotateApiKey(id: $id, overlapHours: $hours) { secret apiKey { id name scopes bots { id } expiresAt createdBy { id } } }
}`;
const VIEWER = '{ viewer { apiKey { id } } }';
const BOTS = '{ bots { edges { node { id } } } }';
const HOUR_MS = 60 * 60 * 1_000;

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
});

const rowOf = (secret: string) =>
  app.prisma.apiKey.findUniqueOrThrow({ where: { hash: hashApiKey(secret) } });
const idOf = async (secret: string) => (await rowOf(secret)).id;

type Answer = Awaited<ReturnType<TestApp['graphql']>>;
const codeOf = ({ errors }: Answer) => errors?.[0]?.extensions.code;

const update = async (by: string, secret: string, input: object, on = app) =>
  on.graphql(by, UPDATE, { id: await idOf(secret), input });
const rotate = async (by: string, secret: string, hours?: number, on = app) =>
  on.graphql(by, ROTATE, { id: await idOf(secret), hours });
const works = async (secret: string, on = app) =>
  codeOf(await on.graphql(secret, VIEWER)) !== 'INVALID_API_KEY';

describe('updating a key', () => {
  test('changes the given fields, and keeps the others and the secret', async () => {
    const [one, two] = [await tenant.bot(null), await tenant.bot(null)];
    const secret = await tenant.key({ scopes: ['CHAT'] });
    const { id } = await rowOf(secret);
    const same = { id, name: 'Key', scopes: ['CHAT'], bots: null, expiresAt: null };
    const changed = async (input: object) =>
      (await update(tenant.apiKey, secret, input)).data.updateApiKey;
    expect(await changed({})).toEqual(same);
    expect(await changed({ name: ' Web ' })).toEqual({ ...same, name: 'Web' });
    expect(await changed({ scopes: ['RUNS', 'RUNS'] })).toEqual({
      ...same,
      name: 'Web',
      scopes: ['RUNS'],
    });
    expect((await changed({ botIds: [one] })).bots).toEqual([{ id: one }]);
    expect((await app.graphql(secret, BOTS)).data.bots.edges).toEqual([{ node: { id: one } }]);
    expect((await changed({ botIds: null })).bots).toBeNull();
    expect((await app.graphql(secret, BOTS)).data.bots.edges).toEqual([
      { node: { id: two } },
      { node: { id: one } },
    ]);
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    expect((await changed({ expiresAt })).expiresAt).toBe(expiresAt);
    expect((await changed({ name: 'Later' })).expiresAt).toBe(expiresAt);
    expect((await changed({ expiresAt: null })).expiresAt).toBeNull();
  });

  test('gives a key no right that the caller lacks, even the caller’s own key', async () => {
    const [bot, other] = [await tenant.bot(null), await tenant.bot(null)];
    const foreignBot = await (await app.tenant()).bot(null);
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const issuer = await tenant.key({ scopes: ['ADMIN', 'CHAT'], botIds: [bot], expiresAt });
    const weak = await tenant.key({ scopes: ['CHAT'], botIds: [bot] });
    for (const secret of [weak, issuer]) {
      const refusal = async (input: object) => codeOf(await update(issuer, secret, input));
      expect(await refusal({ scopes: ['CHAT', 'RUNS'] })).toBe('INSUFFICIENT_SCOPE');
      expect(await refusal({ scopes: ['OPERATOR'] })).toBe('INSUFFICIENT_SCOPE');
      expect(await refusal({ botIds: [bot, other] })).toBe('BOT_ACCESS_DENIED');
      expect(await refusal({ botIds: null })).toBe('BOT_ACCESS_DENIED');
      expect(await refusal({ expiresAt: null })).toBe('INVALID_REQUEST');
      const later = new Date(expiresAt.getTime() + 1).toISOString();
      expect(await refusal({ expiresAt: later })).toBe('INVALID_REQUEST');
    }
    expect(codeOf(await update(tenant.apiKey, weak, { botIds: [foreignBot] }))).toBe(
      'BOT_ACCESS_DENIED',
    );
    expect(codeOf(await update(tenant.apiKey, weak, { botIds: ['nobody'] }))).toBe('BOT_NOT_FOUND');
    expect(await rowOf(weak)).toMatchObject({ scopes: ['CHAT'], botIds: [bot], expiresAt: null });
  });

  test('cannot change a key with more rights, of another account, or that has ended', async () => {
    const limited = await tenant.key({ scopes: ['ADMIN'], botIds: [await tenant.bot(null)] });
    const other = await app.tenant();
    const revoked = await tenant.key({ revokedAt: new Date() });
    const expired = await tenant.key({ expiresAt: new Date(Date.now() - 1) });
    for (const change of [update, rotate]) {
      const refusal = async (by: string, secret: string) =>
        codeOf(await (change === update ? update(by, secret, {}) : rotate(by, secret)));
      expect(await refusal(limited, tenant.apiKey)).toBe('NOT_FOUND');
      expect(await refusal(other.apiKey, tenant.apiKey)).toBe('NOT_FOUND');
      expect(await refusal(tenant.apiKey, revoked)).toBe('INVALID_REQUEST');
      expect(await refusal(tenant.apiKey, expired)).toBe('INVALID_REQUEST');
    }
    expect(await works(tenant.apiKey)).toBe(true);
  });

  test.each([
    [{ scopes: [] }, 'input.scopes'],
    [{ name: ' ' }, 'input.name'],
    [{ botIds: ['a b'] }, 'input.botIds.0'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'input.expiresAt'],
  ])('refuses %j', async (input, path) => {
    const { errors } = await update(tenant.apiKey, await tenant.key(), input);
    expect(errors?.[0]?.extensions.details).toMatchObject([{ path }]);
  });
});

describe('rotating a key', () => {
  test('creates a key with the same rights, and revokes the old one at once', async () => {
    const bot = await tenant.bot(null);
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const secret = await tenant.key({ scopes: ['CHAT', 'RUNS'], botIds: [bot], expiresAt });
    const { data } = await rotate(tenant.apiKey, secret);
    const { apiKey, secret: next } = data.rotateApiKey;
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Key',
      scopes: ['CHAT', 'RUNS'],
      bots: [{ id: bot }],
      expiresAt: expiresAt.toISOString(),
      createdBy: { id: await idOf(tenant.apiKey) },
    });
    expect(apiKey.id).not.toBe(await idOf(secret));
    expect([await works(secret), await works(next)]).toEqual([false, true]);
  });

  test('leaves the old one valid for the overlap, but not beyond its own expiry', async () => {
    const [soon, never] = [
      await tenant.key({ expiresAt: new Date(Date.now() + HOUR_MS) }),
      await tenant.key(),
    ];
    const before = Date.now();
    for (const secret of [soon, never]) await rotate(tenant.apiKey, secret, 24);
    const ends = await Promise.all([soon, never].map(async (key) => (await rowOf(key)).expiresAt));
    expect(Number(ends[0]) - before).toBeLessThanOrEqual(HOUR_MS);
    expect(Number(ends[1]) - before).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(Number(ends[1]) - Date.now()).toBeLessThanOrEqual(24 * HOUR_MS);
    expect([await works(soon), await works(never)]).toEqual([true, true]);
  });

  test('does not extend the expiry of an expiring key', async () => {
    const { data } = await rotate(tenant.apiKey, tenant.apiKey, 1);
    const next = data.rotateApiKey.secret;
    expect(await works(tenant.apiKey)).toBe(true);
    expect(codeOf(await rotate(tenant.apiKey, next))).toBe('INVALID_REQUEST');
    expect(codeOf(await update(tenant.apiKey, tenant.apiKey, { expiresAt: null }))).toBe(
      'INVALID_REQUEST',
    );
    const again = await rotate(tenant.apiKey, tenant.apiKey, 24);
    expect(again.data.rotateApiKey.apiKey.expiresAt).toBe(
      (await rowOf(tenant.apiKey)).expiresAt?.toISOString(),
    );
    expect(await works(next)).toBe(true);
  });

  test.each([-1, 25])('refuses an overlap of %i hours', async (hours) => {
    const secret = await tenant.key();
    const { errors } = await rotate(tenant.apiKey, secret, hours);
    expect(errors?.[0]?.extensions.details).toMatchObject([{ path: 'overlapHours' }]);
    expect(await works(secret)).toBe(true);
  });
});

describe('the last key that can manage an account’s keys', () => {
  const lastRefusal = (answer: Answer) => {
    expect(answer.errors?.[0]?.message).toContain('last unrestricted API key with the scope');
    return codeOf(answer);
  };
  const revoke = async (by: string, secret: string) =>
    app.graphql(by, 'mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', {
      id: await idOf(secret),
    });

  test('cannot be revoked, restricted or set to expire soon', async () => {
    const { apiKey } = tenant;
    // Neither a restricted key nor one that ends soon counts.
    await tenant.key({ botIds: [await tenant.bot(null)] });
    await tenant.key({ expiresAt: new Date(Date.now() + 23 * HOUR_MS) });
    await tenant.key({ scopes: ['CHAT', 'RUNS'] });
    const soon = new Date(Date.now() + HOUR_MS).toISOString();
    expect(lastRefusal(await revoke(apiKey, apiKey))).toBe('INVALID_REQUEST');
    for (const input of [{ scopes: ['CHAT'] }, { botIds: [] }, { expiresAt: soon }]) {
      expect(lastRefusal(await update(apiKey, apiKey, input))).toBe('INVALID_REQUEST');
    }
    expect(await rowOf(apiKey)).toMatchObject({ revokedAt: null, restricted: false });
    expect(codeOf(await update(apiKey, apiKey, { scopes: ['ADMIN'] }))).toBeUndefined();
    expect(codeOf(await rotate(apiKey, apiKey))).toBeUndefined();
  });

  test('is kept if two keys revoke each other at the same time', async () => {
    const second = await tenant.key();
    const answers = await Promise.all([
      revoke(tenant.apiKey, second),
      revoke(second, tenant.apiKey),
    ]);
    const left = await app.prisma.apiKey.count({
      where: { accountId: tenant.accountId, revokedAt: null },
    });
    expect(left).toBe(1);
    expect(answers.filter(({ errors }) => errors)).toHaveLength(1);
  });

  test('is kept for the scope OPERATOR too', async () => {
    const operator = await tenant.key({ scopes: Object.values(KeyScope) });
    const scopes = ['ADMIN', 'CHAT'];
    expect(lastRefusal(await update(operator, operator, { scopes }))).toBe('INVALID_REQUEST');
    await tenant.key({ scopes: ['OPERATOR'] });
    expect(codeOf(await update(operator, operator, { scopes }))).toBeUndefined();
  });
});

describe('a key that loses a scope', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'has its streams closed over %s',
    async (_way, reader) => {
      const bot = await tenant.bot();
      app.upstream.script(async ({ say, end, closed }) => {
        say('Hello');
        await closed;
        end();
      });
      const secret = await tenant.key({ scopes: ['CHAT', 'RUNS'] });
      const { items } = await readWhole(reader({ app, bot, secret }), () =>
        update(tenant.apiKey, secret, { scopes: ['RUNS'] }),
      );
      expect(items).toEqual(['RunStarted', 'TextDelta', 'INVALID_API_KEY']);
      expect(await works(secret)).toBe(true);
    },
  );
});

describe.skipIf(!inject('redisUrl'))('replicas', () => {
  test('use a changed or rotated key at the next request', async () => {
    const replica = async () => startApp({ redis: (await linkRedis()).redis });
    const [here, there] = await Promise.all([replica(), replica()]);
    const scopeRefusal = async (secret: string) =>
      codeOf(await there.graphql(secret, '{ run(id: "run_x") { id } }'));
    for (let round = 0; round < 10; round += 1) {
      const secret = await tenant.key();
      expect(await scopeRefusal(secret)).toBe('RUN_NOT_FOUND');
      await update(tenant.apiKey, secret, { scopes: ['CHAT'] }, here);
      expect(await scopeRefusal(secret)).toBe('INSUFFICIENT_SCOPE');
      await rotate(tenant.apiKey, secret, 0, here);
      expect(await scopeRefusal(secret)).toBe('INVALID_API_KEY');
    }
  });
});
