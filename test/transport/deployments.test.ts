import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

type Entry = { deployment_id: string; status: string; parse_errors: string[]; warnings: string[] };

const post = async (path: string, body?: string | object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${app.url}/v1/bots/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests know the shape of the response
  return { status: response.status, body: (await response.json()) as any };
};

const list = async (bot: string, query = '') => {
  const response = await fetch(`${app.url}/v1/bots/${bot}/deployments${query}`, {
    headers: tenant.headers,
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests know the shape of the response
  return { status: response.status, body: (await response.json()) as any };
};

describe('POST /v1/bots/:id/deploy', () => {
  test('responds in the documented form, and the bot uses the new definition', async () => {
    const bot = await tenant.bot(null);
    const example = await readFile(
      new URL('../../prisma/examples/order-desk.agent', import.meta.url),
      'utf8',
    );
    const agentlang = example.replace('https://mcp.example/', 'https://127.0.0.1/');
    const { status, body } = await post(`${bot}/deploy`, {
      agentlang,
      environment: 'production',
      message: 'First release',
      env_vars: { TELEGRAM_BOT_TOKEN: 'a', ORDERS_KEY: 'b', GITHUB_TOKEN: 'c' },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      deployment_id: expect.stringMatching(/^dep_/),
      bot_id: bot,
      status: 'deployed',
      deployed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      ended_at: body.deployed_at,
      channels: ['web'],
      parse_errors: [],
      warnings: [
        '1:1 the channel telegram cannot be connected: the variable TELEGRAM_BOT_TOKEN is not a token of a Telegram bot [channel-unavailable]',
        '63:9 the tools of github cannot be connected: private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS [tools-unavailable]',
      ],
    });
    await tenant.chat(bot, { message: 'Hi', context: { plan: 'gold' } });
    const [system] = app.upstream.requests.at(-1)?.body.messages ?? [];
    expect(system?.content).toContain("The customer's plan: gold.");
    expect(system?.content).toContain("The customer's name, if known: unknown.");
  });

  test('responds with 200 and status failed to a source with errors, one line for each error with its position', async () => {
    const bot = await tenant.bot(null);
    const { status, body } = await post(`${bot}/deploy`, {
      agentlang:
        'agentlang 5\n\nagent "A" {\n  prompt "Hi"\n  model "m" {\n    temprature 1\n  }\n}\n',
    });
    expect(status).toBe(200);
    const { deployed_at: deployedAt } = body;
    expect(body).toMatchObject({ status: 'failed', channels: [], ended_at: deployedAt });
    expect(body.parse_errors).toEqual([
      '6:5 unknown setting "temprature", did you mean "temperature"? [unknown-setting]',
    ]);
  });

  test('deletes a variable whose value is null', async () => {
    const bot = await tenant.bot(null);
    await post(`${bot}/deploy`, { agentlang: agent(), env_vars: { A: '1', B: '2' } });
    await post(`${bot}/deploy`, { agentlang: agent(), env_vars: { A: null } });
    const { data } = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { activeDeployment { envNames } } }',
      { id: bot },
    );
    expect(data.bot.activeDeployment.envNames).toEqual(['B']);
  });

  test.each<[string, object, string[]]>([
    ['no source', {}, ['agentlang']],
    ['a source that is a number', { agentlang: 5 }, ['agentlang']],
    ['U+0000 in the source', { agentlang: 'a\u0000' }, ['agentlang']],
    ['an unknown environment', { agentlang: '', environment: 'test' }, ['environment']],
    ['a message that is a list', { agentlang: '', message: [] }, ['message']],
    ['variables that are a list', { agentlang: '', env_vars: [] }, ['env_vars']],
    [
      'a value that is a number',
      { agentlang: '', env_vars: { A: 1, B: {} } },
      ['env_vars.A', 'env_vars.B'],
    ],
    ['an invalid name', { agentlang: '', env_vars: { 'a b': 'x' } }, ['env_vars.a b']],
    ['a value over 32 KiB', { agentlang: '', env_vars: { A: 'x'.repeat(32_769) } }, ['env_vars.A']],
    [
      'values over 64 KiB together',
      { agentlang: '', env_vars: { A: 'x'.repeat(32_768), B: 'x'.repeat(32_768), C: 'x' } },
      ['env_vars'],
    ],
  ])('refuses %s', async (_what, request, paths) => {
    const bot = await tenant.bot(null);
    const { status, body } = await post(`${bot}/deploy`, request);
    expect(status).toBe(400);
    expect(body.error.code).toBe('invalid_request');
    expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(0);
  });

  test.each([
    [
      'an invalid name',
      { '1A': 'x' },
      'must be a name of at most 128 letters, digits and "_", no digit first',
    ],
    ['an invalid value', { A: 7 }, 'must be a string'],
    ['a list', ['x'], 'must be an object with string values'],
  ])('explains what is wrong with variables: %s', async (_what, env_vars, message) => {
    const bot = await tenant.bot(null);
    const { body } = await post(`${bot}/deploy`, { agentlang: agent(), env_vars });
    expect(body.error.details).toEqual([expect.objectContaining({ message })]);
  });

  test('refuses a body that is not UTF-8', async () => {
    const bot = await tenant.bot(null);
    const response = await fetch(`${app.url}/v1/bots/${bot}/deploy`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: new Uint8Array([...Buffer.from('{"agentlang": "'), 0xff, ...Buffer.from('"}')]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_json' } });
  });

  test.each([
    ['a source of 257 KiB', '#'.repeat(257 * 1024), 'source-too-large'],
    ['a million open braces', '{'.repeat(250_000), 'missing-header'],
    ['version 4', 'agentlang 4\nagent "A" { prompt "x" }', 'unsupported-version'],
    ['no header', 'agent "A" { prompt "x" }', 'missing-header'],
    ['an empty source', '', 'missing-header'],
  ])('reports a clear error for %s', async (_what, agentlang, code) => {
    const bot = await tenant.bot('prompt "As before."');
    const { status, body } = await post(`${bot}/deploy`, { agentlang });
    expect(status).toBe(200);
    expect(body.status).toBe('failed');
    expect(body.parse_errors[0]).toContain(`[${code}]`);
    await tenant.chat(bot, { message: 'Hi' });
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('As before.');
  });

  test('requires the scope deploy', async () => {
    const bot = await tenant.bot(null);
    const authorization = `Bearer ${await tenant.key({ scopes: ['CHAT', 'RUNS', 'ADMIN'] })}`;
    for (const path of ['deploy', 'deployments/dep_x/rollback']) {
      const { status, body } = await post(`${bot}/${path}`, '{', { authorization });
      expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    }
  });
});

describe('GET /v1/bots/:id/deployments', () => {
  test('lists deployments newest first, in pages, without sources and values', async () => {
    const bot = await tenant.bot(null);
    const made: Entry[] = [];
    for (const agentlang of [agent(), 'broken', agent()]) {
      const { body } = await post(`${bot}/deploy`, { agentlang, env_vars: { A: 'canary-value' } });
      made.unshift(body);
    }
    const first = await list(bot, '?limit=2');
    const second = await list(bot, `?limit=2&cursor=${encodeURIComponent(first.body.next_cursor)}`);
    expect(second.body.next_cursor).toBeNull();
    const entries = [...first.body.deployments, ...second.body.deployments];
    expect(entries).toEqual(
      made.map((deployment, index) => ({
        ...deployment,
        environment: 'production',
        message: null,
        active: index === 0,
        rolled_back_to: null,
      })),
    );
    expect(JSON.stringify(entries)).not.toMatch(/canary|You are a test/);
  });

  test('filters by environment and status', async () => {
    const bot = await tenant.bot(null);
    const staged = await post(`${bot}/deploy`, { agentlang: agent(), environment: 'staging' });
    const failed = await post(`${bot}/deploy`, { agentlang: 'broken' });
    const ids = async (query: string) =>
      (await list(bot, query)).body.deployments.map((entry: Entry) => entry.deployment_id);
    expect(await ids('?environment=staging')).toEqual([staged.body.deployment_id]);
    expect(await ids('?status=failed')).toEqual([failed.body.deployment_id]);
    expect(await ids('?environment=staging&status=failed')).toEqual([]);
  });

  test('is an empty list for a bot without deployments', async () => {
    expect(await list(await tenant.bot(null))).toEqual({
      status: 200,
      body: { deployments: [], next_cursor: null },
    });
  });

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=many', 'limit'],
    ['?status=done', 'status'],
    ['?environment=test', 'environment'],
    ['?colour=blue', ''],
    ['?cursor=nonsense', 'cursor'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await list(await tenant.bot(null), query);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details?.[0].path).toBe(path);
  });
});

describe('POST /v1/bots/:id/deployments/{deployment_id}/rollback', () => {
  test('requires only the key, under any content type', async () => {
    const bot = await tenant.bot(null);
    const { body: old } = await post(`${bot}/deploy`, { agentlang: agent('prompt "Old."') });
    await post(`${bot}/deploy`, { agentlang: agent('prompt "New."') });
    const path = `${bot}/deployments/${old.deployment_id}/rollback`;
    const bare = await fetch(`${app.url}/v1/bots/${path}`, {
      method: 'POST',
      headers: tenant.headers,
    });
    expect(bare.status).toBe(200);
    expect(await bare.json()).toEqual({
      ...old,
      deployment_id: expect.not.stringMatching(old.deployment_id),
      deployed_at: expect.any(String),
      ended_at: expect.any(String),
      rolled_back_to: old.deployment_id,
    });
    await tenant.chat(bot, { message: 'Hi' });
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('Old.');
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      expect((await post(path, '', { 'content-type': type })).status).toBe(200);
    }
    expect((await post(path, { message: 'Undo.' })).status).toBe(200);
    expect((await list(bot, '?limit=1')).body.deployments[0].message).toBe('Undo.');
  });

  test('refuses deployments that cannot be rolled back to', async () => {
    const bot = await tenant.bot(null);
    const { body: failed } = await post(`${bot}/deploy`, { agentlang: 'broken' });
    const attempt = async (id: string, body?: string | object, type = 'application/json') => {
      const answer = await post(`${bot}/deployments/${id}/rollback`, body, {
        'content-type': type,
      });
      return [answer.status, answer.body.error.code];
    };
    expect(await attempt(failed.deployment_id)).toEqual([400, 'deployment_not_deployable']);
    expect(await attempt('dep_none')).toEqual([404, 'deployment_not_found']);
    expect(await attempt('dep_none', { message: 1 })).toEqual([400, 'invalid_request']);
    expect(await attempt('dep_none', '[]')).toEqual([400, 'invalid_request']);
    expect(await attempt('dep_none', 'text', 'text/plain')).toEqual([400, 'invalid_request']);
  });
});
