import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeRuns, newestFirst } from '../helpers/runs.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const get = async (path: string, key = tenant.apiKey) => {
  const response = await fetch(`${app.url}/v1/bots/${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests know the shape of the response
  return { status: response.status, body: (await response.json()) as any };
};

const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);

describe('GET /v1/bots/:id/runs/{run_id}', () => {
  test('returns the metadata of the request, and whether the numbers of tokens are estimates', async () => {
    const bot = await tenant.bot();
    const metadata = { job: 'nightly', tries: [1, { last: null }] };
    const answer = await fetch(`${app.url}/v1/bots/${bot}/execute`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Hi', metadata }),
    });
    const { run_id } = (await answer.json()) as { run_id: string };
    const found = expect.objectContaining({ run_id, metadata, tokens_estimated: false });
    expect((await get(`${bot}/runs/${run_id}`)).body).toEqual(found);
    expect((await get(`${bot}/runs`)).body.runs).toEqual([found]);
    const talker = await tenant.key({ scopes: ['CHAT'] });
    const stopped = await fetch(`${app.url}/v1/bots/${bot}/runs/${run_id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${talker}` },
    });
    expect(await stopped.json()).toMatchObject({ run_id, metadata: null, created_at: MOMENT });
    await app.prisma.run.update({ where: { id: run_id }, data: { tokensEstimated: true } });
    expect((await get(`${bot}/runs/${run_id}`)).body.tokens_estimated).toBe(true);
  });

  test('returns a run in the documented form, with its trace', async () => {
    const bot = await tenant.bot();
    const chat = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 's' });
    const { run_id, latency_ms, tokens_used } = (await chat.json()) as Record<string, unknown>;
    const { status, body } = await get(`${bot}/runs/${run_id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      run_id,
      bot_id: bot,
      deployment_id: expect.stringMatching(/^dep_/),
      environment: 'production',
      kind: 'chat',
      status: 'completed',
      channel: 'api',
      entrance: 'rest',
      session_id: 's',
      input: 'Hi',
      response: 'Hello there.',
      metadata: null,
      error: null,
      model: 'scripted',
      created_at: MOMENT,
      started_at: MOMENT,
      finished_at: MOMENT,
      latency_ms,
      tokens_used,
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      tokens_estimated: false,
      cached_tokens: null,
      reasoning_tokens: null,
      finish_reason: 'stop',
      tools_called: [],
      trigger: 'request',
      caused_by: null,
      tool_calls: [],
      trace: { trace_id: expect.stringMatching(/^[0-9a-f]{32}$/), spans: expect.any(Array) },
    });
    expect(body.prompt_tokens + body.completion_tokens).toBe(tokens_used);
    expect(body.trace.spans.length).toBeGreaterThan(4);
    for (const span of body.trace.spans) {
      expect(span).toEqual({
        span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
        parent_id: span === body.trace.spans[0] ? null : expect.stringMatching(/^[0-9a-f]{16}$/),
        name: expect.any(String),
        started_at: MOMENT,
        duration_ms: expect.any(Number),
        status: expect.stringMatching(/^(unset|ok|error)$/),
        attributes: expect.any(Object),
      });
    }
  });

  test('returns why a run failed', async () => {
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    const chat = await tenant.chat(bot, { message: 'Hi' });
    app.upstream.script(hello);
    const { body } = await get(`${bot}/runs/${chat.headers.get('x-run-id')}`);
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: 'model_error', message: expect.any(String) },
    });
  });

  test('returns 404 for an unknown run and for a run of another bot', async () => {
    const [bot, other] = [await tenant.bot(null), await tenant.bot(null)];
    const [run] = await makeRuns(app, other, [{}]);
    for (const id of ['run_none', run?.id]) {
      const { status, body } = await get(`${bot}/runs/${id}`);
      expect([status, body.error.code]).toEqual([404, 'run_not_found']);
    }
  });
});

describe('GET /v1/bots/:id/runs', () => {
  test('lists runs newest first, in pages, each as when read alone', async () => {
    const bot = await tenant.bot();
    for (const message of ['One', 'Two', 'Three']) await tenant.chat(bot, { message });
    const first = await get(`${bot}/runs?limit=2`);
    const second = await get(`${bot}/runs?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.next_cursor).toBeNull();
    const runs = [...first.body.runs, ...second.body.runs];
    expect(runs.map(({ input }) => input)).toEqual(['Three', 'Two', 'One']);
    for (const run of runs) {
      expect(await get(`${bot}/runs/${run.run_id}`)).toEqual({ status: 200, body: run });
    }
  });

  test('lists the runs that match all parameters', async () => {
    const bot = await tenant.bot(null);
    const createdAt = new Date('2026-03-01T10:00:00Z');
    const made = await makeRuns(app, bot, [
      {},
      { sessionId: 'ada', entrance: 'OPENAI', createdAt },
      { sessionId: 'ada', status: 'FAILED', createdAt },
      { channel: 'WEB', entrance: 'WEB', createdAt: new Date('2026-03-02T00:00:00Z') },
      { kind: 'EXECUTE', environment: 'STAGING', createdAt: new Date('2026-03-01T23:59:59.999Z') },
    ]);
    const found = async (query: string) => {
      const { status, body } = await get(`${bot}/runs?${query}`);
      expect(status).toBe(200);
      return body.runs.map(({ run_id }: { run_id: string }) => run_id);
    };
    const these = (...indices: number[]) =>
      made
        .filter((_, index) => indices.includes(index))
        .toSorted(newestFirst)
        .map(({ id }) => id);
    expect(await found('user=ada')).toEqual(these(1, 2));
    expect(await found('status=failed')).toEqual(these(2));
    expect(await found('status=completed&user=ada')).toEqual(these(1));
    expect(await found('channel=web')).toEqual(these(3));
    expect(await found('entrance=web')).toEqual(these(3));
    expect(await found('entrance=openai')).toEqual(these(1));
    expect(await found('entrance=openai&channel=web')).toEqual([]);
    expect(await found('kind=execute')).toEqual(these(4));
    expect(await found('environment=staging')).toEqual(these(4));
    expect(await found('date=2026-03-01')).toEqual(these(1, 2, 4));
    expect(await found('from=2026-03-01&to=2026-03-02')).toEqual(these(1, 2, 4));
    expect(await found('from=2026-03-01T10:00:00.001Z')).toEqual(these(0, 3, 4));
    expect(await found('to=2026-03-01T11:00:00%2B01:00')).toEqual([]);
    expect(await found('to=2026-03-01T11:00:01%2B01:00')).toEqual(these(1, 2));
    expect(await found('status=queued')).toEqual([]);
  });

  test.each([
    '2026-03-01T10:00Z',
    '2026-03-01T10:00:00.000Z',
    '2026-03-01T11:00%2B01:00',
    '2026-03-01T11:00:00%2B0100',
    '2026-03-01T08:30:00.000-0130',
    '2026-02-28T22:00-1200',
  ])('accepts %s as the time that it denotes', async (moment) => {
    const bot = await tenant.bot(null);
    const made = await makeRuns(app, bot, [
      { createdAt: new Date('2026-03-01T09:59:59.999Z') },
      { createdAt: new Date('2026-03-01T10:00:00Z') },
    ]);
    for (const [index, name] of ['to', 'from'].entries()) {
      const { body } = await get(`${bot}/runs?${name}=${moment}`);
      expect(body.runs).toMatchObject([{ run_id: made[index]?.id }]);
    }
  });

  test.each([
    ['limit=0', 'limit', 'at least 1'],
    ['limit=101', 'limit', 'at most 100'],
    ['limit=many', 'limit', 'a number'],
    ['cursor=nonsense', 'cursor', 'not a cursor'],
    ['user=', 'user', 'visible'],
    ['user=a%20b', 'user', 'visible'],
    ['status=done', 'status', '"queued", "running", "completed", "failed" or "cancelled"'],
    ['status=constructor', 'status', '"queued", "running"'],
    ['status=failed&status=queued', 'status', '"queued"'],
    ['channel=mail', 'channel', '"api", "web" or "telegram"'],
    ['entrance=OPENAI', 'entrance', '"rest", "graphql", "openai", "mcp", "web" or "telegram"'],
    ['kind=', 'kind', '"chat" or "execute"'],
    ['environment=test', 'environment', '"production" or "staging"'],
    ['date=2026-02-30', 'date', '2026-11-21'],
    ['from=yesterday', 'from', 'ISO 8601'],
    ['to=2026-03-01T00:00:00', 'to', 'with a time zone, such as 2026-11-21T10:00:00Z'],
    ['to=2026-03-01T00:00+01:00', 'to', 'or 2026-11-21T11:00%2B01:00'],
    ['to=2026-03-01T00:00%2B01', 'to', 'ISO 8601'],
    ['to=2026-03-01T10Z', 'to', 'ISO 8601'],
    ['to=2026-03-01T24:00Z', 'to', 'ISO 8601'],
    ['to=2026-02-29T10:00Z', 'to', 'ISO 8601'],
    ['from=20260301T100000Z', 'from', 'ISO 8601'],
    ['from=2026-03-01%2B0100', 'from', 'ISO 8601'],
    [
      'colour=blue',
      '',
      'unknown colour; the parameters are user, status, channel, entrance, kind, environment, date, from, to, limit, cursor',
    ],
  ])('refuses ?%s', async (query, path, message) => {
    const { status, body } = await get(`${await tenant.bot(null)}/runs?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('reports every problem at once', async () => {
    const bot = await tenant.bot(null);
    const { body } = await get(`${bot}/runs?limit=x&status=x&date=x&colour=x`);
    expect(body.error.details.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      '',
      'date',
      'limit',
      'status',
    ]);
  });

  test('requires the scope runs', async () => {
    const bot = await tenant.bot(null);
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'ADMIN'] });
    for (const path of ['runs', 'runs/run_none']) {
      const { status, body } = await get(`${bot}/${path}`, key);
      expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    }
  });
});

describe('POST /v1/bots/:id/runs/{run_id}/cancel', () => {
  test('returns the whole run', async () => {
    const bot = await tenant.bot();
    const chat = await tenant.chat(bot, { message: 'Hi' });
    const id = chat.headers.get('x-run-id');
    const response = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}/cancel`, {
      method: 'POST',
      headers: tenant.headers,
    });
    expect(await response.json()).toEqual((await get(`${bot}/runs/${id}`)).body);
  });
});

describe('an id that cannot be stored', () => {
  test.each([
    ['run', 'query ($bad: ID!) { bad: run(id: $bad) { id } good: run(id: "run_none") { id } }'],
    [
      'cancelRun',
      'mutation ($bad: ID!) { bad: cancelRun(id: $bad) { id } good: cancelRun(id: "run_none") { id } }',
    ],
    ['nodes', 'query ($bad: ID!) { bad: node(id: $bad) { id } good: node(id: "run_none") { id } }'],
  ])('does not affect other requests in the same batch: %s', async (_field, query) => {
    const requests = Array.from({ length: 4 }, () => tenant.graphql(query, { bad: 'run_\u0000' }));
    const others = Array.from({ length: 20 }, () =>
      tenant.graphql('{ run(id: "run_none") { id } }'),
    );
    for (const { errors } of await Promise.all([...requests, ...others])) {
      for (const { extensions } of errors ?? []) {
        expect(extensions.code).toMatch(/^(INVALID_REQUEST|RUN_NOT_FOUND)$/);
      }
    }
  });
});
