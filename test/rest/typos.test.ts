import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readError } from '../helpers/documented.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const post = (path: string, body?: object | string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/v1/bots/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });

const refusalOf = async (answer: Response) => {
  const { status, headers } = answer;
  const { code, message, details } = readError({ status, headers, body: await answer.text() });
  return { code, message, details };
};

const detailsOf = async (answer: Response) => (await refusalOf(answer)).details;

const countDeployments = (botId: string) => app.prisma.deployment.count({ where: { botId } });

describe('an unknown field', () => {
  test('that resembles a known field is refused with a suggestion, in every body', async () => {
    const typos: [string, object, string, string][] = [
      ['chat', { message: 'Hi' }, 'enviroment', 'environment'],
      ['chat', { message: 'Hi' }, 'Stream', 'stream'],
      ['chat', { message: 'Hi' }, 'contexts', 'context'],
      ['chat/stream', { message: 'Hi' }, 'enviornment', 'environment'],
      ['execute', { prompt: 'Hi' }, 'backgroud', 'background'],
      ['execute', { prompt: 'Hi' }, 'outputSchema', 'output_schema'],
      ['execute', { prompt: 'Hi' }, 'meta_data', 'metadata'],
      ['deploy', { agentlang: agent() }, 'enviroment', 'environment'],
      ['deploy', { agentlang: agent() }, 'envVars', 'env_vars'],
      ['deployments/dep_x/rollback', {}, 'mesage', 'message'],
    ];
    for (const [path, body, typo, suggestion] of typos) {
      const answer = await post(`${bot}/${path}`, { ...body, [typo]: 'staging' });
      const message = `unknown field ${typo}, did you mean ${suggestion}?`;
      expect([path, await refusalOf(answer)]).toEqual([
        path,
        {
          code: 'invalid_request',
          message: `${typo}: ${message}`,
          details: [{ path: typo, message }],
        },
      ]);
    }
  });

  test('causes no deployment', async () => {
    const own = await tenant.bot(null);
    const body = { agentlang: agent(), enviroment: 'staging', colour: 'blue' };
    expect(await detailsOf(await post(`${own}/deploy`, body))).toEqual([
      { path: 'enviroment', message: 'unknown field enviroment, did you mean environment?' },
      {
        path: 'colour',
        message:
          'unknown field colour; the fields are agentlang, environment, message, skip_gate, env_vars',
      },
    ]);
    expect(await countDeployments(own)).toBe(0);
  });

  test('causes no rollback', async () => {
    const own = await tenant.bot();
    const [deployment] = await app.prisma.deployment.findMany({ where: { botId: own } });
    const path = `${own}/deployments/${deployment?.id}/rollback`;
    expect(await detailsOf(await post(path, { environment: 'staging' }))).toEqual([
      { path: 'environment', message: 'unknown field environment; the fields are message' },
    ]);
    expect(await countDeployments(own)).toBe(1);
  });

  test('that resembles no known field is ignored by chat and execute, also if its value does', async () => {
    const more = { colour: 'blue', session_id: 'x', env: 'staging', user: { enviroment: 1 } };
    for (const [path, body] of [
      ['chat', { message: 'Hi' }],
      ['chat/stream', { message: 'Hi' }],
      ['execute', { prompt: 'Hi' }],
    ] as const) {
      const answer = await post(`${bot}/${path}`, { ...body, ...more });
      expect([path, answer.status]).toEqual([path, 200]);
      await answer.text();
    }
  });

  test('is allowed in the client’s own data', async () => {
    const own = { enviroment: 'x', mesage: 'y', agentlnag: 'z' };
    const schema = { type: 'object', properties: { mesage: { type: 'string' } } };
    app.upstream.script(({ say, end }) => {
      say('{"mesage": "Hi"}');
      end();
    });
    const executed = await post(`${bot}/execute`, {
      prompt: 'Hi',
      context: own,
      metadata: own,
      output_schema: schema,
    });
    expect(executed.status).toBe(200);
    const target = await tenant.bot(null);
    const deployed = await post(`${target}/deploy`, { agentlang: agent(), env_vars: own });
    expect(await deployed.json()).toMatchObject({ status: 'deployed' });
  });

  test('is reported together with every other problem', async () => {
    const body = { mesage: 'Hi', stream: 'yes', environment: 'staging' };
    const headers = { 'x-environment': 'production' };
    const details = await detailsOf(await post(`${bot}/chat`, body, headers));
    expect(details?.map(({ path }) => path)).toEqual([
      'message',
      'stream',
      'mesage',
      'environment',
    ]);
  });

  test('may be one of thousands, and the response stays short', async () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `x${index}`);
    const many = Object.fromEntries([...names, 'y'.repeat(100_000)].map((name) => [name, 1]));
    const details = await detailsOf(await post(`${bot}/deploy`, { agentlang: '', ...many }));
    expect(details).toHaveLength(100);
    expect((await post(`${bot}/chat`, { message: 'Hi', ...many })).status).toBe(200);
  });
});

describe('an environment that is given twice', () => {
  const both = { path: 'environment', message: expect.any(String) };

  test.each([
    ['chat', { message: 'Hi', environment: 'production' }],
    ['chat/stream', { message: 'Hi', environment: 'production' }],
    ['chat/stream?environment=production', { message: 'Hi' }],
    ['execute', { prompt: 'Hi', environment: 'production' }],
    ['deploy', { agentlang: agent(), environment: 'production' }],
    ['deploy?environment=production', { agentlang: agent() }],
  ])('is refused if the header differs from the request: %s', async (path, body) => {
    const own = await tenant.bot();
    const count = await countDeployments(own);
    const staging = { 'x-environment': 'staging' };
    expect(await detailsOf(await post(`${own}/${path}`, body, staging))).toEqual([both]);
    expect(await countDeployments(own)).toBe(count);
    const same = await post(`${own}/${path}`, body, { 'x-environment': 'production' });
    expect(same.status).toBe(200);
    await same.text();
  });

  test('is refused if the query differs from the body, with an error that lists the sources and no values', async () => {
    const body = { message: 'Hi', environment: 'production' };
    const answer = await post(`${bot}/chat/stream?environment=staging`, body);
    expect(await detailsOf(answer)).toEqual([
      { path: 'environment', message: 'must be the same in the body and the query' },
    ]);
    const three = { 'x-environment': 'staging' };
    expect(
      await detailsOf(await post(`${bot}/chat/stream?environment=staging`, body, three)),
    ).toEqual([
      {
        path: 'environment',
        message: 'must be the same in the body and the query and the header X-Environment',
      },
    ]);
  });

  test('is refused like a message that is given twice', async () => {
    const answer = await post(`${bot}/deploy?message=A`, { agentlang: agent(), message: 'B' });
    expect(await detailsOf(answer)).toEqual([
      { path: 'message', message: 'must be the same in the body and the query' },
    ]);
  });

  test('is not checked on routes that do not read the header', async () => {
    const headers = { ...tenant.headers, 'x-environment': 'staging' };
    const runs = await fetch(`${app.url}/v1/bots/${bot}/runs?environment=production`, { headers });
    expect(runs.status).toBe(200);
  });
});

describe('X-Environment', () => {
  test('deploys to staging', async () => {
    const own = await tenant.bot(null);
    const answer = await post(
      `${own}/deploy`,
      { agentlang: agent() },
      { 'x-environment': 'staging' },
    );
    expect(answer.status).toBe(200);
    const [deployment] = await app.prisma.deployment.findMany({ where: { botId: own } });
    expect(deployment?.environment).toBe('STAGING');
  });

  test('with an invalid value deploys nothing', async () => {
    const own = await tenant.bot(null);
    const answer = await post(
      `${own}/deploy`,
      { agentlang: agent() },
      { 'x-environment': 'stagin' },
    );
    expect((await detailsOf(answer))?.map(({ path }) => path)).toEqual(['x-environment']);
    expect(await countDeployments(own)).toBe(0);
  });
});

describe('an unknown query parameter', () => {
  test.each([
    ['POST', 'chat', '{"message": "Hi"}'],
    ['POST', 'chat/stream', '{"message": "Hi"}'],
    ['GET', 'chat/stream', undefined],
    ['POST', 'execute', '{"prompt": "Hi"}'],
    ['POST', 'deploy', '{"agentlang": "agentlang 5"}'],
    ['POST', 'deployments/dep_x/rollback', undefined],
    ['GET', 'deployments', undefined],
    ['GET', 'runs', undefined],
    ['GET', 'runs/run_x', undefined],
    ['GET', 'runs/run_x/events', undefined],
    ['POST', 'runs/run_x/cancel', undefined],
  ])('is refused: %s %s', async (method, path, body) => {
    const own = await tenant.bot(null);
    const headers = { ...tenant.headers, ...(body && { 'content-type': 'application/json' }) };
    const address = `${app.url}/v1/bots/${own}/${path}?enviroment=staging&message=Hi`;
    const { details } = await refusalOf(await fetch(address, { method, headers, body }));
    expect(details).toEqual([
      { path: '', message: expect.stringMatching(/^unknown .*enviroment.*; (the|there)/) },
    ]);
    expect(await countDeployments(own)).toBe(0);
  });
});
