import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeApproval, SHOP } from '../helpers/approvals.ts';
import { codesIn, securityRows } from '../helpers/borders.ts';
import { makeEvaluation } from '../helpers/evaluations.ts';
import { makeRuns } from '../helpers/runs.ts';
import { type CountStatementsAbout, statementsAbout } from '../helpers/statements.ts';

let app: TestApp;
let count: CountStatementsAbout;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  count = statementsAbout();
  tenant = await app.tenant();
});

/** The statements that `docs/security.md` grants a route. */
function grantedTo(route: string): number {
  const row = securityRows().find(({ cells }) => codesIn(cells['way in']).includes(route));
  return Number.parseInt(row?.cells.statements ?? '', 10);
}

type Ids = { bot: string; run: string; deployment: string; approval: string; evaluation: string };

describe('a route of the REST interface takes as many statements as its row grants', () => {
  const get = (path: string) => () => fetch(app.url + path, { headers: tenant.headers });
  const post = (path: string, body?: object) => () =>
    fetch(app.url + path, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const source = 'agentlang 5\nagent "A" {\n  prompt "x"\n}\n';
  const tested = source.replace(
    '\n}',
    '\n  test "greets" { user "Hi"  expect reply contains "Hi" }\n}',
  );

  test.each<[string, (ids: Ids) => () => Promise<Response>]>([
    ['POST /v1/bots/:id/chat', ({ bot }) => post(`/v1/bots/${bot}/chat`, { message: 'Hi' })],
    [
      'POST /v1/bots/:id/chat/stream',
      ({ bot }) => post(`/v1/bots/${bot}/chat/stream`, { message: 'Hi' }),
    ],
    ['GET /v1/bots/:id/chat/stream', ({ bot }) => get(`/v1/bots/${bot}/chat/stream?message=Hi`)],
    ['POST /v1/bots/:id/execute', ({ bot }) => post(`/v1/bots/${bot}/execute`, { prompt: 'Hi' })],
    ['GET /v1/bots/:id/runs', ({ bot }) => get(`/v1/bots/${bot}/runs?limit=100`)],
    ['GET /v1/bots/:id/runs/:run_id', ({ bot, run }) => get(`/v1/bots/${bot}/runs/${run}`)],
    [
      'GET /v1/bots/:id/runs/:run_id/events',
      ({ bot, run }) => get(`/v1/bots/${bot}/runs/${run}/events`),
    ],
    [
      'POST /v1/bots/:id/runs/:run_id/cancel',
      ({ bot, run }) => post(`/v1/bots/${bot}/runs/${run}/cancel`),
    ],
    [
      'POST /v1/bots/:id/deploy',
      ({ bot }) => post(`/v1/bots/${bot}/deploy`, { agentlang: source }),
    ],
    ['GET /v1/bots/:id/deployments', ({ bot }) => get(`/v1/bots/${bot}/deployments`)],
    [
      'POST /v1/bots/:id/deployments/:deployment_id/rollback',
      ({ bot, deployment }) => post(`/v1/bots/${bot}/deployments/${deployment}/rollback`),
    ],
    [
      'POST /v1/chat/completions',
      ({ bot }) =>
        post('/v1/chat/completions', { model: bot, messages: [{ role: 'user', content: 'Hi' }] }),
    ],
    ['POST /v1/responses', ({ bot }) => post('/v1/responses', { model: bot, input: 'Hi' })],
    ['GET /v1/responses/:response_id', ({ run }) => get(`/v1/responses/${run}`)],
    ['POST /v1/responses/:response_id/cancel', ({ run }) => post(`/v1/responses/${run}/cancel`)],
    [
      'DELETE /v1/responses/:response_id',
      ({ run }) =>
        () =>
          fetch(`${app.url}/v1/responses/${run}`, { method: 'DELETE', headers: tenant.headers }),
    ],
    ['GET /v1/models', () => get('/v1/models')],
    ['GET /v1/models/:model', ({ bot }) => get(`/v1/models/${bot}`)],
    ['GET /v1/bots/:id/approvals', ({ bot }) => get(`/v1/bots/${bot}/approvals?limit=100`)],
    [
      'GET /v1/bots/:id/approvals/:approval_id',
      ({ bot, approval }) => get(`/v1/bots/${bot}/approvals/${approval}`),
    ],
    [
      'POST /v1/bots/:id/approvals/:approval_id/decision',
      ({ bot, approval }) =>
        post(`/v1/bots/${bot}/approvals/${approval}/decision`, { decision: 'deny' }),
    ],
    [
      'POST /v1/bots/:id/evaluations',
      ({ bot }) => post(`/v1/bots/${bot}/evaluations`, { agentlang: tested }),
    ],
    ['GET /v1/bots/:id/evaluations', ({ bot }) => get(`/v1/bots/${bot}/evaluations?limit=100`)],
    [
      'GET /v1/bots/:id/evaluations/:evaluation_id',
      ({ bot, evaluation }) => get(`/v1/bots/${bot}/evaluations/${evaluation}`),
    ],
  ])('%s', async (route, requestFor) => {
    const bot = await tenant.bot(SHOP);
    const { deploymentId: deployment } = await app.prisma.activeDeployment.findFirstOrThrow({
      where: { botId: bot },
    });
    const runs = await makeRuns(
      app,
      bot,
      Array.from({ length: 30 }, () => ({ deploymentId: deployment, input: 'Hi' })),
    );
    // The first chat loads the definition into the cache.
    await (await tenant.chat(bot, { message: 'Hi' })).text();
    const run = runs[0]?.id ?? '';
    const evaluation = await makeEvaluation(app, bot);
    const approval = await makeApproval(app, bot, run, deployment);
    // The call waits for a decision. Nothing follows it while the route is counted.
    const waiting = { status: 'WAITING', decidedAt: null, settledAt: null } as const;
    const availableAt = new Date('2100-01-01');
    await app.prisma.approval.update({
      where: { id: approval },
      data: { ...waiting, availableAt },
    });
    const act = requestFor({ bot, run, deployment, approval, evaluation });
    const ids = [bot, run, deployment, approval, evaluation];
    if (route === 'GET /v1/models') ids.push(tenant.accountId);
    const statements = await count(ids, async () => {
      const response = await act();
      expect(response.ok, await response.text()).toBe(true);
    });
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThanOrEqual(grantedTo(route));
  });
});

test('a call of a tool takes as many statements as its row grants', async () => {
  const bot = await tenant.bot();
  const call = (method: string, params: object) =>
    fetch(`${app.url}/mcp`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const chat = () => call('tools/call', { name: bot, arguments: { message: 'Hi' } });
  await (await chat()).text();
  const counted = async (act: () => Promise<Response>) =>
    count([bot, tenant.accountId], async () => {
      const text = await (await act()).text();
      expect(text).toContain('"result"');
      expect(text).not.toContain('isError');
    });
  expect(await counted(chat)).toBeLessThanOrEqual(grantedTo('POST /mcp'));
  expect(await counted(() => call('tools/list', {}))).toBeLessThanOrEqual(4);
});

test.each([
  '/v1/openapi.json',
  '/',
  '/bots',
  '/settings/keys',
  '/guide',
  '/docs',
  '/widget.js',
  '/healthz',
  '/graphql/none.js',
  '/none.js',
])('100 requests of %s run no statements of their own', async (path) => {
  const statements = await count([''], async () => {
    for (let sent = 0; sent < 100; sent += 1) await app.inject(path);
  });
  // Background tasks run some statements meanwhile.
  expect(statements).toBeLessThan(50);
});
