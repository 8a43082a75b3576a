import { beforeAll, describe, expect, test } from 'vitest';
import { hashApiKey, makeApiKey } from '../../src/accounts/key-format.ts';
import { MAX_KEYS } from '../../src/accounts/key-lineage.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { MAX_BOTS } from '../../src/bots/bots.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const CREATE = `mutation ($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { secret apiKey { id createdKeys { edges { node { id } } } } }
}`;
const REVOKE = `mutation ($id: ID!, $withCreated: Boolean) {
  revokeApiKey(id: $id, withCreated: $withCreated) {
    id
    revokedAt
    createdKeys { edges { node {
      name revokedAt createdKeys { edges { node { name revokedAt } } }
    } } }
  }
}`;

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

type CreatedKey = { secret: string; id: string };

const idOf = async (secret: string) => {
  const where = { hash: hashApiKey(secret) };
  return (await app.prisma.apiKey.findUniqueOrThrow({ where })).id;
};

const createKey = async (by: string, name: string, input: object = {}): Promise<CreatedKey> => {
  const { data, errors } = await app.graphql(by, CREATE, {
    input: { name, scopes: ['ADMIN', 'CHAT'], ...input },
  });
  expect(errors).toBeUndefined();
  const { secret, apiKey } = data.createApiKey;
  expect(apiKey.createdKeys.edges).toEqual([]);
  return { secret, id: apiKey.id };
};

const works = async (secret: string) =>
  (await app.graphql(secret, '{ viewer { apiKey { id } } }')).errors === undefined;

/** A key, a key that it created, and a key that the second one created. */
const chain = async () => {
  const first = await createKey(tenant.apiKey, 'First');
  const second = await createKey(first.secret, 'Second');
  const third = await createKey(second.secret, 'Third');
  return { first, second, third, secrets: [first, second, third].map(({ secret }) => secret) };
};

describe('a key that created other keys', () => {
  test('is returned as their creator', async () => {
    const { first, second } = await chain();
    const { data } = await tenant.graphql(
      `{ node(id: "${second.id}") { ... on ApiKey { createdBy { id createdKeys { edges { node { id } } } } } } }`,
    );
    expect(data.node.createdBy).toEqual({
      id: first.id,
      createdKeys: { edges: [{ node: { id: second.id } }] },
    });
  });

  test('lists them when it is revoked, and they stay valid', async () => {
    const { first, secrets } = await chain();
    const { data } = await tenant.graphql(REVOKE, { id: first.id });
    expect(data.revokeApiKey.createdKeys.edges).toEqual([
      {
        node: {
          name: 'Second',
          revokedAt: null,
          createdKeys: { edges: [{ node: { name: 'Third', revokedAt: null } }] },
        },
      },
    ]);
    expect(await Promise.all(secrets.map(works))).toEqual([false, true, true]);
  });

  test('revokes all keys below it on request, and no others', async () => {
    const { first, second, third, secrets } = await chain();
    const other = await createKey(tenant.apiKey, 'Other');
    await tenant.graphql(REVOKE, { id: second.id });
    const { data } = await tenant.graphql(REVOKE, { id: first.id, withCreated: true });
    const [made] = data.revokeApiKey.createdKeys.edges;
    expect(made.node.createdKeys.edges[0].node.revokedAt).toMatch(/Z$/);
    const tried = [...secrets, other.secret, tenant.apiKey];
    expect(await Promise.all(tried.map(works))).toEqual([false, false, false, true, true]);
    // A repeated request changes nothing.
    const again = await tenant.graphql(REVOKE, { id: first.id, withCreated: true });
    expect(again.data).toEqual(data);
    expect(await app.prisma.apiKey.count({ where: { id: third.id, revokedAt: null } })).toBe(0);
  });

  test('does not revoke keys below it that have more rights than the key of the request', async () => {
    const bot = await tenant.bot();
    const limited = await createKey(tenant.apiKey, 'Limited', { botIds: [bot] });
    const widened = await createKey(limited.secret, 'Widened');
    const below = await createKey(widened.secret, 'Below');
    const widen = `mutation { updateApiKey(id: "${widened.id}", input: { botIds: null }) { id } }`;
    expect((await tenant.graphql(widen)).errors).toBeUndefined();
    const { data } = await app.graphql(limited.secret, REVOKE, {
      id: limited.id,
      withCreated: true,
    });
    expect(data.revokeApiKey).toMatchObject({ id: limited.id, createdKeys: { edges: [] } });
    const secrets = [limited, widened, below].map(({ secret }) => secret);
    expect(await Promise.all(secrets.map(works))).toEqual([false, true, false]);
  });

  test('is hidden from a created key with fewer rights', async () => {
    const bot = await tenant.bot();
    const limited = await createKey(tenant.apiKey, 'Limited', { botIds: [bot] });
    const { data } = await app.graphql(
      limited.secret,
      '{ viewer { apiKey { createdBy { id } } } }',
    );
    expect(data.viewer.apiKey.createdBy).toBeNull();
  });

  test('leaves no valid key that it creates during its own revocation', async () => {
    const issuer = await createKey(tenant.apiKey, 'Issuer');
    await app.graphql(issuer.secret, '{ viewer { apiKey { id } } }');
    const [{ errors }] = await Promise.all([
      tenant.graphql(REVOKE, { id: issuer.id, withCreated: true }),
      ...Array.from({ length: 10 }, () =>
        app.graphql(issuer.secret, CREATE, { input: { name: 'Late' } }),
      ),
    ]);
    expect(errors).toBeUndefined();
    const where = { createdById: issuer.id, revokedAt: null };
    expect(await app.prisma.apiKey.count({ where })).toBe(0);
  });

  test('lists to a restricted key only keys without more rights', async () => {
    const [bot, other] = [await tenant.bot(), await tenant.bot()];
    const issuer = await createKey(tenant.apiKey, 'Issuer');
    await createKey(issuer.secret, 'Of the bot', { botIds: [bot] });
    await createKey(issuer.secret, 'Of another', { botIds: [bot, other] });
    await createKey(issuer.secret, 'Of all');
    const { id } = issuer;
    const limited = await tenant.key({ scopes: ['ADMIN', 'CHAT'], botIds: [bot] });
    await app.prisma.apiKey.update({
      where: { id },
      data: { restricted: true, botIds: [bot] },
    });
    const names = async (key: string) => {
      const { data } = await app.graphql(
        key,
        `{ node(id: "${id}") { ... on ApiKey { createdKeys { edges { node { name } } } } } }`,
      );
      return data.node.createdKeys.edges.map(({ node }: { node: { name: string } }) => node.name);
    };
    expect(await names(limited)).toEqual(['Of the bot']);
    expect(await names(tenant.apiKey)).toEqual(['Of all', 'Of another', 'Of the bot']);
  });

  test('is protected against wide nested queries', async () => {
    const full = await app.tenant();
    const createdById = await idOf(full.apiKey);
    const created = Array.from({ length: 900 }, () => ({
      ...newApiKey(full.accountId, makeApiKey(), { name: 'One of many' }),
      createdById,
    }));
    await app.prisma.apiKey.createMany({ data: created });
    const { errors } = await full.graphql(
      '{ viewer { account { apiKeys { createdBy { createdKeys(first: 100) { edges { cursor } } } } } } }',
    );
    expect(errors?.[0]?.message).toMatch(/larger than 8 MiB/);
  });
});

describe('an account', () => {
  test(`has at most ${MAX_KEYS} valid keys, and deletes ended keys first`, async () => {
    const full = await app.tenant();
    const { accountId } = full;
    const row = () => newApiKey(accountId, makeApiKey(), { name: 'One of many' });
    const fill = Array.from({ length: MAX_KEYS - 1 }, row);
    await app.prisma.apiKey.createMany({ data: fill });
    const create = () => full.graphql(CREATE, { input: { name: 'One more' } });
    expect((await create()).errors?.[0]?.message).toBe(
      'An account has at most 1,000 API keys. Revoke one first.',
    );
    const [ended, later] = fill;
    const creator = await idOf(full.apiKey);
    const made = fill.at(-1)?.id ?? '';
    await app.prisma.apiKey.update({
      where: { id: ended?.id ?? '' },
      data: { revokedAt: new Date(1), createdById: creator },
    });
    await app.prisma.apiKey.update({
      where: { id: later?.id ?? '' },
      data: { expiresAt: new Date(2) },
    });
    await app.prisma.apiKey.update({
      where: { id: made },
      data: { createdById: ended?.id ?? '' },
    });
    expect((await create()).errors).toBeUndefined();
    const left = await app.prisma.apiKey.findMany({ where: { accountId } });
    expect(left).toHaveLength(MAX_KEYS);
    const ids = left.map(({ id }) => id);
    expect([ended?.id, later?.id].map((id) => ids.includes(id ?? ''))).toEqual([false, true]);
    // The keys that it created now belong to its own creator.
    expect(left.find(({ id }) => id === made)?.createdById).toBe(creator);
  });

  test(`has at most ${MAX_BOTS} bots, even if several are created at the same time`, async () => {
    const full = await app.tenant();
    const { accountId } = full;
    const data = Array.from({ length: MAX_BOTS - 1 }, (_, index) => ({
      id: `${accountId.slice(4)}-${index}`,
      accountId,
      name: 'One of many',
    }));
    await app.prisma.bot.createMany({ data });
    const create = () => full.graphql('mutation { createBot(input: { name: "B" }) { id } }');
    const answers = await Promise.all([create(), create(), create()]);
    const messages = answers.flatMap(({ errors }) => errors?.map(({ message }) => message) ?? []);
    expect(messages).toEqual(Array(2).fill('An account has at most 1,000 bots. Delete one first.'));
  });
});
