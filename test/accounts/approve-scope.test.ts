import { beforeAll, expect, test } from 'vitest';
import type { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const create = async (by: string, scopes: KeyScope[]) => {
  const { data, errors } = await app.graphql(
    by,
    `mutation ($input: CreateApiKeyInput!) {
      createApiKey(input: $input) { secret apiKey { id scopes } } }`,
    { input: { name: 'Key', scopes } },
  );
  return { code: errors?.[0]?.extensions.code, created: data?.createApiKey };
};

test('a key with the scope ADMIN grants APPROVE, also without that scope', async () => {
  const admin = await tenant.key({ scopes: ['ADMIN'] });
  const { code, created } = await create(admin, ['APPROVE']);
  expect(code).toBeUndefined();
  expect(created.apiKey.scopes).toEqual(['APPROVE']);
  const bot = await tenant.bot();
  const { data } = await app.graphql(created.secret, `{ bot(id: "${bot}") { approvalsWaiting } }`);
  expect(data).toEqual({ bot: { approvalsWaiting: 0 } });
  const { data: keys } = await app.graphql(
    admin,
    '{ viewer { apiKey { createdKeys { edges { node { id } } } } } }',
  );
  expect(keys.viewer.apiKey.createdKeys.edges).toEqual([{ node: { id: created.apiKey.id } }]);
  // It grants no other scope that it does not have.
  expect((await create(admin, ['APPROVE', 'CHAT'])).code).toBe('INSUFFICIENT_SCOPE');
});

test.each<{ scopes: KeyScope[] }>([
  { scopes: ['APPROVE'] },
  { scopes: ['CHAT', 'DEPLOY', 'RUNS', 'APPROVE'] },
])('a key with the scopes $scopes grants no scope', async ({ scopes }) => {
  const key = await tenant.key({ scopes });
  expect((await create(key, ['APPROVE'])).code).toBe('INSUFFICIENT_SCOPE');
});

test('a key with the scope ADMIN that lacks APPROVE reads no approvals', async () => {
  const admin = await tenant.key({ scopes: ['ADMIN', 'CHAT', 'DEPLOY', 'RUNS'] });
  const bot = await tenant.bot();
  const { errors } = await app.graphql(admin, `{ bot(id: "${bot}") { approvalsWaiting } }`);
  expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
});
