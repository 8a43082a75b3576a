import { createConnection } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/errors/errors.ts';
import { routes } from '../../src/transport/routes.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeApproval } from '../helpers/approvals.ts';
import {
  type Contract,
  type DescribedOperation,
  escaped,
  pointerTo,
  readContract,
} from '../helpers/contract.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let contract: Contract;
beforeAll(async () => {
  app = await startApp({ trustProxy: ['127.0.0.1'] });
  tenant = await app.tenant();
  bot = await tenant.bot('memory { name "The name" }');
  contract = await readContract(app.url);
});

const streamed = { accept: 'text/event-stream' };

let clients = 0;

/**
 * Sends a request to an operation, each from a different address, and checks the response against the document. The
 * document describes the streams of `chat` and `execute` at `streamChat`.
 */
async function ask(
  operationId: string,
  {
    path = {},
    query = '',
    body,
    headers = {},
    apiKey = tenant.apiKey,
  }: {
    path?: Record<string, string>;
    query?: string;
    body?: object | string;
    headers?: Record<string, string>;
    apiKey?: string | null;
  } = {},
): Promise<Response> {
  const found = contract.operations.find((one) => one.operationId === operationId);
  if (!found) throw new Error(`There is no operation ${operationId}.`);
  const filled: Record<string, string> = { id: bot, ...path };
  const url = found.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => filled[name] ?? 'x_none');
  clients += 1;
  const answer = await fetch(`${app.url}/v1${url}${query}`, {
    method: found.method.toUpperCase(),
    headers: {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      'x-forwarded-for': `2001:db8:${clients}::1`,
      ...headers,
    },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  const isStreamByOption = body !== undefined && headers.accept === streamed.accept;
  await contract.hold(isStreamByOption ? 'streamChat' : operationId, answer.clone());
  return answer;
}

const codeOf = async (answer: Response) => {
  const { error } = (await answer.json()) as { error: { code: string } };
  return error.code;
};

describe('the OpenAPI document', () => {
  test('needs no key, and ignores an invalid key', async () => {
    for (const apiKey of [null, tenant.apiKey, 'parley_sk_none']) {
      const answer = await ask('readApiDescription', { apiKey });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ openapi: '3.1.1' });
    }
  });

  test('counts as a request of the key, or without a valid key of the address', async () => {
    const reader = await app.tenant({ plan: 'FREE' });
    const own = await ask('readApiDescription', { apiKey: reader.apiKey });
    expect(own.headers.get('x-ratelimit-limit')).toBe('10');
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const answers = await Promise.all(
      Array.from({ length: 61 }, () => ask('readApiDescription', { apiKey: null, headers })),
    );
    expect(answers.map(({ status }) => status)).toContain(429);
  });

  test('describes every route of the table, and no others', () => {
    const described = contract.operations.map(({ method, path }) => `${method} ${path}`);
    const served = routes.map(
      ({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(described.toSorted()).toEqual([...served, 'get /openapi.json'].toSorted());
  });

  test('requires the scopes of the routes, and no key to read the document', () => {
    const described = contract.operations.map(({ operationId, security }) => [
      operationId,
      security?.flatMap(({ apiKey }) => apiKey),
    ]);
    const served = routes.map(({ id, scope }) => [
      id,
      scope && [scope].flat().map((one) => one.toLowerCase()),
    ]);
    expect(Object.fromEntries(described)).toEqual({
      ...Object.fromEntries(served),
      readApiDescription: [],
    });
    expect(JSON.parse(contract.source).security).toEqual([{ apiKey: [] }]);
  });

  test('lists every error code that a route can return', () => {
    const named = new Set(
      contract.operations.flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ content }) =>
          Object.keys(content['application/json']?.examples ?? {}),
        ),
      ),
    );
    const ofNoRoute = ['not_found', 'interrupted', 'search_too_broad'];
    expect([...named, ...ofNoRoute].toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  });

  test('has an example of every body that matches its schema', () => {
    const bodiesOf = (operation: DescribedOperation) => [
      { place: 'requestBody', content: operation.requestBody?.content ?? {} },
      ...Object.entries(operation.responses).map(([status, { content }]) => ({
        place: `responses/${status}`,
        content,
      })),
    ];
    for (const operation of contract.operations) {
      for (const { place, content } of bodiesOf(operation)) {
        for (const [type, { example, examples }] of Object.entries(content)) {
          const pointer = `${pointerTo(operation)}/${place}/content/${escaped(type)}/schema`;
          const shown = [example, ...Object.values(examples).map(({ value }) => value)];
          const given = shown.filter((value) => value !== undefined);
          if (operation.operationId !== 'readApiDescription')
            expect(given, pointer).not.toEqual([]);
          for (const value of given) {
            expect([pointer, contract.problems(value, pointer)]).toEqual([pointer, []]);
            if (typeof value !== 'string' || type !== 'text/event-stream') continue;
            const frames = [...value.matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
              JSON.parse(data),
            );
            expect(frames.length).toBeGreaterThan(1);
            expect(contract.problems(frames, `${pointer}/contentSchema`)).toEqual([]);
          }
        }
      }
    }
  });

  test('has examples of parameters and fields that match their schemas', () => {
    let count = 0;
    const visit = (node: unknown, pointer: string) => {
      if (typeof node !== 'object' || node === null) return;
      if ('examples' in node && Array.isArray(node.examples)) {
        for (const value of node.examples) {
          count += 1;
          expect([pointer, contract.problems(value, pointer)]).toEqual([pointer, []]);
        }
      }
      for (const [name, child] of Object.entries(node)) visit(child, `${pointer}/${escaped(name)}`);
    };
    visit(JSON.parse(contract.source), '');
    expect(count).toBeGreaterThan(30);
  });
});

describe('the reference page', () => {
  test('shows every operation without a key, and loads nothing from other hosts', async () => {
    const answer = await fetch(`${app.url}/docs`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await answer.text();
    for (const { operationId, path } of contract.operations) {
      expect(page).toContain(`<section class="operation" id="${operationId}">`);
      expect(page).toContain(`<code>/v1${path}</code>`);
    }
    expect(page).not.toMatch(/>undefined<|\[object Object\]/);
    expect(
      page.match(/<(link|script|img|iframe)[^>]*(src|href)="(?!assets\/|docs\/assets\/)/),
    ).toBeNull();
  });

  test('shows the public address of the server, and repeats nothing from a request', async () => {
    const { port, hostname } = new URL(app.url);
    const answerTo = async (path: string, host: string) => {
      const socket = createConnection(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return (await Array.fromAsync<Buffer>(socket)).join('');
    };
    for (const path of ['/docs', '/v1/openapi.json', '/graphql']) {
      for (const host of ['bots.example:8080', '"><script>x', "';ls;'"]) {
        expect(await answerTo(path, host)).not.toContain(host);
      }
    }
    expect(await answerTo('/docs', 'x')).toContain(
      '\'<span class="origin">http://localhost:4000</span>/v1/bots/demo/chat\'',
    );
    const known = await startApp({ publicUrl: 'https://bots.example/parley' });
    const page = await (await fetch(`${known.url}/docs`)).text();
    expect(page).toContain('https://bots.example/parley/v1/bots/demo/chat');
    expect(page).not.toContain('localhost');
  });
});

const isOfBot = (id: string) => routes.find((route) => route.id === id)?.isOfBot;

// The last test counts what the others have seen.
describe('the responses of the server match the document', { shuffle: false }, () => {
  test('to OpenAI’s API: models, completions and responses', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    await ask('listModels');
    await ask('retrieveModel', { path: { model: bot } });
    expect(await codeOf(await ask('retrieveModel'))).toBe('model_not_found');
    await ask('createChatCompletion', { body: { model: bot, messages } });
    const none = { model: 'none', messages, input: 'Hi' };
    for (const operation of ['createChatCompletion', 'createResponse'])
      expect(await codeOf(await ask(operation, { body: none }))).toBe('model_not_found');
    const created = await ask('createResponse', { body: { model: bot, input: 'Hi' } });
    const { id: response_id } = (await created.json()) as { id: string };
    for (const operation of ['getResponse', 'cancelResponse', 'deleteResponse']) {
      expect((await ask(operation, { path: { response_id } })).status).toBe(200);
      expect(await codeOf(await ask(operation))).toBe('run_not_found');
    }
  });

  test('to chats: whole, streamed, with tools, failed and cancelled', async () => {
    await ask('chat', { body: { message: 'Hi', context: { plan: 'pro' } } });
    await ask('chat', { body: { message: 'Hi', stream: true }, headers: streamed });
    await ask('streamChatByQuery', { query: '?message=Hi&session_id=user-1' });
    await ask('streamChat', { query: '?session_id=user-1', body: { message: 'Hi' } });
    app.upstream.script(({ say, cut }) => {
      say('Well');
      cut();
    });
    const failed = await ask('streamChat', { body: { message: 'Hi' } });
    expect(await failed.text()).toContain('"event":"error"');
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    expect(await codeOf(await ask('chat', { body: { message: 'Hi' } }))).toBe('model_error');
    expect((await ask('execute', { body: { prompt: 'Hi' } })).status).toBe(500);
    app.upstream.script(({ say, end }) => {
      say('Hello');
      end();
    });
  });

  test('to a request that repeats its idempotency key', async () => {
    const headers = { 'idempotency-key': 'order-4711' };
    await ask('execute', { body: { prompt: 'Hi' }, headers });
    const again = await ask('execute', { body: { prompt: 'Hi' }, headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await ask('execute', { body: { prompt: 'Ho' }, headers });
    expect(await codeOf(other)).toBe('idempotency_conflict');
  });

  test('to executes: whole, streamed, and in the background', async () => {
    await ask('execute', { body: { prompt: 'Hi', metadata: { job: 'nightly' } } });
    await ask('execute', { body: { prompt: 'Hi', stream: true }, headers: streamed });
    expect((await ask('execute', { body: { prompt: 'Hi', background: true } })).status).toBe(202);
    const both = { prompt: 'Hi', stream: true, background: true };
    expect((await ask('execute', { body: both })).status).toBe(400);
  });

  test('to readers of a run’s events, and to its cancellation', async () => {
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'tool') {
        say('Done.');
        end();
      } else {
        call(['memory_save', { name: 'name', value: 'Ada' }]);
      }
    });
    const chat = await ask('chat', { body: { message: 'I am Ada' } });
    const path = { run_id: chat.headers.get('x-run-id') ?? '' };
    const events = await ask('followRun', { path });
    expect(await events.text()).toContain('"event":"tool_finished"');
    await ask('followRun', { path, query: '?after=1' });
    await ask('cancelRun', { path });
    expect(await codeOf(await ask('cancelRun'))).toBe('run_not_found');
    app.upstream.script(({ say, end }) => {
      say('Hello');
      end();
    });
  });

  test('to deploys, rollbacks and their list', async () => {
    const own = { path: { id: await tenant.bot(null) } };
    const empty = await ask('chat', { ...own, body: { message: 'Hi' } });
    expect(await codeOf(empty)).toBe('bot_not_deployed');
    const failed = await ask('deploy', { ...own, body: { agentlang: 'nonsense' } });
    const { deployment_id: neverRan } = (await failed.json()) as { deployment_id: string };
    const deployed = await ask('deploy', { ...own, body: { agentlang: agent(), message: 'A' } });
    const { deployment_id } = (await deployed.json()) as { deployment_id: string };
    const back = {
      path: { ...own.path, deployment_id },
      headers: { 'idempotency-key': 'once' },
    };
    await ask('rollback', back);
    expect((await ask('rollback', back)).headers.get('idempotency-replayed')).toBe('true');
    const refused = await ask('rollback', { path: { ...own.path, deployment_id: neverRan } });
    expect(await codeOf(refused)).toBe('deployment_not_deployable');
    await ask('listDeployments', { ...own, query: '?limit=2' });
  });

  test('to approvals, their list and decisions', async () => {
    const chat = await ask('chat', { body: { message: 'Hi' } });
    const run = await app.prisma.run.findUniqueOrThrow({
      where: { id: chat.headers.get('x-run-id') ?? '' },
      select: { id: true, botId: true, deploymentId: true },
    });
    const approval_id = await makeApproval(app, run.botId, run.id, run.deploymentId ?? '');
    await ask('listApprovals', { query: '?status=denied' });
    const path = { approval_id };
    await ask('readApproval', { path });
    expect(await codeOf(await ask('readApproval', { path: { approval_id: 'tcl_0' } }))).toBe(
      'approval_not_found',
    );
    expect((await ask('decideApproval', { path, body: { decision: 'deny' } })).status).toBe(200);
    const other = await ask('decideApproval', { path, body: { decision: 'approve' } });
    expect(await codeOf(other)).toBe('already_decided');
  });

  test('to evaluations, their list and results', async () => {
    const source = 'agentlang 5 agent "A" { prompt "p" test "t" { user "a" expect no call } }';
    const started = await ask('startEvaluation', { body: { agentlang: source } });
    expect(started.status).toBe(202);
    const { evaluation_id } = (await started.json()) as { evaluation_id: string };
    const path = { evaluation_id };
    const statusOf = async () => (await ask('readEvaluation', { path })).status;
    await expect.poll(statusOf, { timeout: 30_000 }).toBe(200);
    const empty = { body: { agentlang: 'agentlang 5 agent "A" { prompt "p" }' } };
    expect((await ask('startEvaluation', empty)).status).toBe(200);
    await ask('listEvaluations', { query: '?limit=2' });
    const absent = { path: { evaluation_id: 'eva_0' } };
    expect(await codeOf(await ask('readEvaluation', absent))).toBe('evaluation_not_found');
    const wrong = { body: { agentlang: 'agentlang 5 agent "A" { }' } };
    expect(await codeOf(await ask('startEvaluation', wrong))).toBe('definition_invalid');
    const none = { body: { deployment_id: 'dep_0' } };
    expect(await codeOf(await ask('startEvaluation', none))).toBe('deployment_not_found');
    const noRun = { body: { agentlang: source, replay: { run_ids: ['run_0'] } } };
    expect(await codeOf(await ask('startEvaluation', noRun))).toBe('run_not_found');
  });

  test('to lists of runs, and to single runs', async () => {
    const chat = await ask('chat', { body: { message: 'Hi' } });
    const run_id = chat.headers.get('x-run-id') ?? '';
    await ask('listRuns', { query: '?limit=2&status=completed' });
    expect((await ask('listRuns', { query: '?color=red' })).status).toBe(400);
    const { trace } = (await (await ask('readRun', { path: { run_id } })).json()) as {
      trace: { spans: unknown[] };
    };
    expect(trace.spans.length).toBeGreaterThan(0);
  });

  test('to a missing or unknown key, a key without the scope, and a key of another account', async () => {
    const weak = await tenant.key({ scopes: ['ADMIN'] });
    const stranger = await app.tenant();
    for (const { operationId, security } of contract.operations) {
      if (operationId === 'readApiDescription') continue;
      const answers = await Promise.all([
        ask(operationId, { apiKey: null }),
        ask(operationId, { apiKey: 'parley_sk_none' }),
      ]);
      const codes = await Promise.all(answers.map(codeOf));
      expect(codes).toEqual(['missing_api_key', 'invalid_api_key']);
      if (isOfBot(operationId)) {
        const denied = await ask(operationId, { apiKey: stranger.apiKey });
        expect(await codeOf(denied)).toBe('bot_access_denied');
        const missing = await ask(operationId, { path: { id: 'no-such-bot' } });
        expect(await codeOf(missing)).toBe('bot_not_found');
      }
      if (security) {
        expect(await codeOf(await ask(operationId, { apiKey: weak }))).toBe('insufficient_scope');
      }
    }
  });

  test('to a request that is invalid, too large, or beyond the rate limit', async () => {
    const poor = await app.tenant({ plan: 'ENTERPRISE', requestsPerMinute: 1, requestsPerDay: 1 });
    await ask('chat', { apiKey: poor.apiKey, path: { id: 'no-such-bot' } });
    for (const { operationId, requestBody } of contract.operations) {
      await ask(operationId, { apiKey: poor.apiKey, path: { id: 'no-such-bot' } });
      if (!requestBody) continue;
      expect(await codeOf(await ask(operationId, { body: '{' }))).toBe('invalid_json');
      expect(await codeOf(await ask(operationId, { body: '5' }))).toBe('invalid_request');
      const large = await ask(operationId, { body: `"${'x'.repeat(1024 * 1024)}"` });
      expect(await codeOf(large)).toBe('request_too_large');
    }
    expect((await ask('listDeployments', { query: '?limit=0' })).status).toBe(400);
    expect((await ask('followRun', { query: '?after=x' })).status).toBe(400);
    expect((await ask('streamChatByQuery')).status).toBe(400);
  });

  test('for every route: its success, and each refusal that all routes share', () => {
    const missing = contract.operations
      .filter(({ operationId }) => operationId !== 'readApiDescription')
      .flatMap(({ operationId, responses }) =>
        ['200', '401', '403', '404', '429']
          // The list of models has no other name in its request.
          .filter((status) => operationId !== 'listModels' || status in responses)
          .map((status) => `${operationId} ${status}`),
      )
      .filter((status) => !contract.seen.has(status));
    expect(missing).toEqual([]);
  });
});
