import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { codesIn, securityRows } from '../helpers/borders.ts';
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

describe('a route of the REST interface takes as many statements as its row grants', () => {
  const get = (path: string) => () => fetch(app.url + path, { headers: tenant.headers });
  const post = (path: string, body?: object) => () =>
    fetch(app.url + path, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const source = 'agentlang 5\nagent "A" {\n  prompt "x"\n}\n';

  test.each<
    [string, (ids: { bot: string; run: string; deployment: string }) => () => Promise<Response>]
  >([
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
  ])('%s', async (route, requestFor) => {
    const bot = await tenant.bot();
    const { deploymentId: deployment } = await app.prisma.activeDeployment.findFirstOrThrow({
      where: { botId: bot },
    });
    const runs = await makeRuns(
      app,
      bot,
      Array.from({ length: 30 }, () => ({ deploymentId: deployment })),
    );
    // The first chat loads the definition into the cache.
    await (await tenant.chat(bot, { message: 'Hi' })).text();
    const run = runs[0]?.id ?? '';
    const act = requestFor({ bot, run, deployment });
    const statements = await count([bot, run, deployment], async () => {
      const response = await act();
      expect(response.status, await response.text()).toBe(200);
    });
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThanOrEqual(grantedTo(route));
  });
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
