import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { hello } from '../../helpers/upstream.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  app.upstream.script(hello);
  site.handle((_request, response) => response.end('{"state": "shipped"}'));
});
afterAll(() => site.close());

const shop = (more = '') => `tools orders {
    capability lookup "Finds an order." { input { order_id string } get "${site.origin}/orders/{{input.order_id}}" }
    capability refund "Refunds an order." { input { order_id string  amount number } post "${site.origin}/refunds" ${more} }
  }`;

/** Scripts a first answer with calls, and a second one with text. */
const callOnce = (...calls: [name: string, input: unknown][]) =>
  app.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.some(({ role }) => role === 'tool')) {
      say('Done.');
      end();
    } else call(...calls);
  });

const CALLS = `toolCalls { id position callId name arguments request { method url body } status result httpStatus
  idempotencyKey startedAt finishedAt durationMs }`;

const callsOf = async (runId: string) => {
  const query = `query ($id: ID!) { run(id: $id) { ${CALLS} trace { spans { name attributes } } } }`;
  const { data, errors } = await tenant.graphql(query, { id: runId });
  expect(errors).toBeUndefined();
  return data.run;
};

test('a run has a record of each tool call, with its request and result', async () => {
  const bot = await tenant.bot(shop());
  callOnce(
    ['orders_lookup', { order_id: 'A-1' }],
    ['orders_refund', { order_id: 'A-1', amount: 5 }],
  );
  const { run_id } = await (await tenant.chat(bot, { message: 'Refund it.' })).json();
  const { toolCalls, trace } = await callsOf(run_id);
  expect(toolCalls).toMatchObject([
    {
      position: 0,
      name: 'orders.lookup',
      arguments: { order_id: 'A-1' },
      request: { method: 'GET', url: `${site.origin}/orders/A-1`, body: null },
      status: 'COMPLETED',
      result: '{"state": "shipped"}',
      httpStatus: 200,
      idempotencyKey: null,
    },
    {
      position: 1,
      name: 'orders.refund',
      arguments: { order_id: 'A-1', amount: 5 },
      request: {
        method: 'POST',
        url: `${site.origin}/refunds`,
        body: '{"order_id":"A-1","amount":5}',
      },
      status: 'COMPLETED',
      httpStatus: 200,
      idempotencyKey: toolCalls[1].id,
    },
  ]);
  for (const call of toolCalls) {
    expect(call.durationMs).toBeGreaterThanOrEqual(0);
    const span = trace.spans.find(
      ({ attributes }: { attributes: Record<string, unknown> }) =>
        attributes['parley.tool_call.id'] === call.id,
    );
    expect(span.name).toBe(`execute_tool ${call.name}`);
  }
  const keys = site.requests.slice(-2).map(({ headers }) => headers['idempotency-key']);
  expect(keys.sort()).toEqual([toolCalls[1].id, undefined].sort());
});

test('a failed run and an execution have them, too', async () => {
  const bot = await tenant.bot(`${shop()}  limits { tool_calls 1 }`);
  app.upstream.script(({ call }) =>
    call(['orders_lookup', { order_id: 'A-1' }], ['orders_lookup', { order_id: 'A-2' }]),
  );
  site.handle((_request, response) => response.writeHead(404).end('No such order.'));
  const response = await fetch(`${app.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Find them.' }),
  });
  expect(response.status).toBe(500);
  const runId = response.headers.get('x-run-id') ?? '';
  const run = await (
    await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}`, { headers: tenant.headers })
  ).json();
  expect(run.status).toBe('failed');
  expect(run.tool_calls).toMatchObject([
    { status: 'failed', http_status: 404, result: 'Error: HTTP 404: No such order.' },
    {
      status: 'refused',
      http_status: null,
      request: null,
      arguments: { order_id: 'A-2' },
      result: 'Error: No more tool calls are allowed. Answer without them.',
    },
  ]);
});

test('records hold no value of a variable', async () => {
  const bot = await tenant.bot(null);
  const secret = 'hunter2-hunter2';
  const source = `agentlang 5\nagent "T" { prompt "Help." tools g {
    capability send "Sends." { input { text string } post "${site.origin}/send?key={{env.SECRET}}" }
  } }`;
  const { errors } = await tenant.graphql(
    `mutation ($id: ID!, $source: String!, $vars: [EnvVarInput!]) {
      deploy(botId: $id, input: { source: $source, envVars: $vars }) { status }
    }`,
    { id: bot, source, vars: [{ name: 'SECRET', value: secret }] },
  );
  expect(errors).toBeUndefined();
  callOnce(['g_send', { text: `The key is ${secret}.` }]);
  site.handle(({ url }, response) => response.end(`You sent ${url}`));
  const { run_id } = await (await tenant.chat(bot, { message: 'Send it.' })).json();
  const { toolCalls } = await callsOf(run_id);
  expect(JSON.stringify(toolCalls)).not.toContain('hunter2');
  expect(toolCalls[0]).toMatchObject({
    arguments: { text: 'The key is [env.SECRET].' },
    request: { url: expect.stringContaining('[env.SECRET]') },
    result: expect.stringContaining('[env.SECRET]'),
  });
  expect(site.requests.at(-1)?.body).toContain(secret);
});

const EVENTS = `subscription ($bot: ID!, $run: ID!) { runEvents(botId: $bot, runId: $run) {
  type: __typename ... on ToolStarted { name arguments } ... on ToolFinished { name failed result } } }`;

const toolEvents = async (key: string, bot: string, run: string) => {
  const response = await fetch(`${app.url}/graphql/stream`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: EVENTS, variables: { bot, run } }),
  });
  const text = await response.text();
  return [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data = '']) => JSON.parse(data).data?.runEvents)
    .filter((event) => event?.type.startsWith('Tool'));
};

test('events carry arguments and results for keys with the scope RUNS only', async () => {
  const bot = await tenant.bot(shop());
  callOnce(['orders_lookup', { order_id: 'A-1' }]);
  const { run_id } = await (await tenant.chat(bot, { message: 'Find it.' })).json();
  expect(await toolEvents(tenant.apiKey, bot, run_id)).toEqual([
    { type: 'ToolStarted', name: 'orders.lookup', arguments: { order_id: 'A-1' } },
    { type: 'ToolFinished', name: 'orders.lookup', failed: false, result: '{"state": "shipped"}' },
  ]);
  const chatKey = await tenant.key({ scopes: ['CHAT'] });
  expect(await toolEvents(chatKey, bot, run_id)).toEqual([
    { type: 'ToolStarted', name: 'orders.lookup', arguments: null },
    { type: 'ToolFinished', name: 'orders.lookup', failed: false, result: null },
  ]);
});

test('a forgotten session takes its records with it', async () => {
  const bot = await tenant.bot(shop());
  callOnce(['orders_lookup', { order_id: 'A-1' }]);
  const answer = await tenant.chat(bot, { message: 'Find it.' }, { 'X-Session-ID': 'ada' });
  const { run_id } = await answer.json();
  expect((await callsOf(run_id)).toolCalls).toHaveLength(1);
  const forget = 'mutation ($bot: ID!) { forgetSession(botId: $bot, sessionId: "ada") }';
  expect((await tenant.graphql(forget, { bot })).data.forgetSession).toBe(true);
  expect((await callsOf(run_id)).toolCalls).toEqual([]);
});

test('with PARLEY_TOOL_CALL_DAYS=0, records have no texts', async () => {
  const silent = await startApp({ allowedHosts: [site.host], toolCallDays: 0 });
  const other = await silent.tenant();
  const bot = await other.bot(shop());
  silent.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.length < 4)
      return call(['orders_refund', { order_id: 'A-1', amount: 5 }]);
    say('Done.');
    return end();
  });
  const { run_id } = await (await other.chat(bot, { message: 'Refund it.' })).json();
  const query = `query ($id: ID!) { run(id: $id) { ${CALLS} } }`;
  const { data } = await other.graphql(query, { id: run_id });
  expect(data.run.toolCalls).toMatchObject([
    { status: 'COMPLETED', arguments: null, request: null, result: null, httpStatus: 200 },
  ]);
});
