import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const post = (path: string, body: object, key: string) =>
  fetch(`${app.url}/v1/bots/${path}`, {
    method: 'POST',
    headers: {
      ...tenant.headers,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
const deployments = (botId: string) => app.prisma.deployment.count({ where: { botId } });
const SECRET = 'a-secret-value-of-a-deploy';

describe('a deploy with an idempotency key', () => {
  test('runs once if twenty are sent at the same time', async () => {
    const bot = await tenant.bot(null);
    const key = randomUUID();
    const body = { agentlang: agent(), env_vars: { TOKEN: SECRET } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(`${bot}/deploy`, body, key)),
    );
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed')).length).toBe(19);
    expect(await deployments(bot)).toBe(1);
    const { fingerprint } = await app.prisma.idempotencyRecord.findUniqueOrThrow({
      where: {
        accountId_namespace_key: { accountId: tenant.accountId, namespace: `key:${bot}`, key },
      },
    });
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is separate for each bot', async () => {
    const [one, other] = [await tenant.bot(null), await tenant.bot(null)];
    const key = randomUUID();
    const deployed = await Promise.all(
      [one, other].map((bot) => post(`${bot}/deploy`, { agentlang: agent() }, key)),
    );
    const [first, second] = await Promise.all(deployed.map((answer) => answer.json()));
    const rolledBack = await post(
      `${one}/deployments/${first.deployment_id}/rollback`,
      {},
      `${key}-2`,
    );
    expect(rolledBack.status).toBe(200);
    const elsewhere = await post(
      `${other}/deployments/${second.deployment_id}/rollback`,
      {},
      `${key}-2`,
    );
    expect(elsewhere.status).toBe(200);
  });

  test.each<[string, object]>([
    ['another source', { agentlang: agent('tools time') }],
    ['another environment', { agentlang: agent(), environment: 'staging' }],
    ['another value of a variable', { agentlang: agent(), env_vars: { TOKEN: 'other' } }],
  ])('is refused with %s under the same key', async (_what, body) => {
    const bot = await tenant.bot(null);
    const key = randomUUID();
    await post(`${bot}/deploy`, { agentlang: agent(), env_vars: { TOKEN: SECRET } }, key);
    const refused = await post(`${bot}/deploy`, body, key);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(await deployments(bot)).toBe(1);
  });

  test('returns a failed deployment again, but releases the key of a refused request', async () => {
    const bot = await tenant.bot(null);
    const key = randomUUID();
    const first = await post(`${bot}/deploy`, { agentlang: 'agentlang 4' }, key);
    const again = await post(`${bot}/deploy`, { agentlang: 'agentlang 4' }, key);
    expect(await again.json()).toEqual(await first.json());
    const other = randomUUID();
    expect((await post(`${bot}/deployments/dep_none/rollback`, {}, other)).status).toBe(404);
    expect((await post(`${bot}/deploy`, { agentlang: agent() }, other)).status).toBe(200);
  });

  test('is equal with another order of removed variables', async () => {
    const bot = await tenant.bot(null);
    const key = randomUUID();
    const deploy = (env_vars: object) =>
      post(`${bot}/deploy`, { agentlang: agent(), env_vars }, key);
    const first = await deploy({ B: null, A: null });
    const again = await deploy({ A: null, B: null });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual(await first.json());
    expect((await deploy({ A: null })).status).toBe(400);
  });

  test('may use the key of a failed chat', async () => {
    const bot = await tenant.bot();
    const key = randomUUID();
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    const failed = await tenant.chat(bot, { message: 'Hi' }, { 'idempotency-key': key });
    expect(failed.status).toBe(500);
    const first = await post(`${bot}/deploy`, { agentlang: agent('channel web') }, key);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
    const again = await post(`${bot}/deploy`, { agentlang: agent('channel web') }, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual(await first.json());
    const chat = await tenant.chat(bot, { message: 'Hi' }, { 'idempotency-key': key });
    expect(await chat.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))('is repeated on a replica whose clock is fast', async () => {
    const bot = await tenant.bot(null);
    const key = randomUUID();
    const first = await post(`${bot}/deploy`, { agentlang: agent() }, key);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const again = await post(`${bot}/deploy`, { agentlang: agent() }, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual(await first.json());
    expect(await deployments(bot)).toBe(1);
  });

  test('works the same for rollbacks and promotions', async () => {
    const bot = await tenant.bot('', 'STAGING');
    const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
    const key = randomUUID();
    const once = await post(`${bot}/deployments/${id}/rollback`, {}, key);
    const twice = await post(`${bot}/deployments/${id}/rollback`, {}, key);
    expect(await twice.json()).toEqual(await once.json());
    expect(twice.headers.get('idempotency-replayed')).toBe('true');
    const promote = () =>
      tenant.graphql(
        `mutation { promote(botId: "${bot}", deploymentId: "${id}", idempotencyKey: "${key}-2") { id } }`,
      );
    const first = await promote();
    expect(await promote()).toEqual(first);
    expect(first.data.promote.id).toMatch(/^dep_/);
    expect(await deployments(bot)).toBe(3);
    const conflict = await post(`${bot}/deployments/${id}/rollback`, { message: 'Other' }, key);
    expect(conflict.status).toBe(400);
  });
});
