import { afterEach, describe, expect, test } from 'vitest';
import type { McpTarget } from '../../../src/agent/mcp/connection.ts';
import { createMcpServers, type McpServers } from '../../../src/agent/mcp/servers.ts';
import { createEgress, type Egress } from '../../../src/egress/egress.ts';
import { createRedactor } from '../../../src/redaction/redact.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { type McpSite, startMcp, textResult, tool } from '../../helpers/mcp.ts';
import { startNewerMcp } from '../../helpers/mcp-newer.ts';
import { startSite } from '../../helpers/site.ts';

type AnySite = Omit<McpSite, 'restart' | 'sessions'>;

let mcp: AnySite;
let egress: Egress;
let servers: McpServers;
const open = async (start: () => Promise<AnySite>) => {
  mcp = await start();
  mcp.offer([tool('search', 'query')]);
  egress = createEgress({ allowedHosts: [mcp.host] });
  // No test reaches these limits, even on a slow machine.
  servers = createMcpServers({
    egress,
    limits: { unreachable: 0, connect: 240_000, call: 240_000 },
  });
};
afterEach(async () => {
  await servers.close();
  await egress.close();
  await mcp.close();
});

const target = (): McpTarget => ({
  key: 'a',
  accountId: 'acc_1',
  url: mcp.url,
  headers: { authorization: 'Bearer x' },
  redactor: createRedactor({}),
});
const unaborted = new AbortController().signal;
const list = () => servers.list(target(), unaborted);
const call = (signal = unaborted, more = {}) =>
  servers.call(
    target(),
    { name: 'search', input: { query: 'x' }, isRepeatable: false, ...more },
    signal,
  );

describe.each([
  ['the version 2026-07-28, without sessions', startNewerMcp, 0],
  ['a version with sessions', startMcp, 1],
])('a tool server of %s', (_version, start, initializations) => {
  test('lists its tools, of all pages, and answers calls', async () => {
    await open(start);
    mcp.offer([tool('a'), tool('b'), tool('search', 'query')], 1);
    expect((await list()).tools.map(({ name }) => name)).toEqual(['a', 'b', 'search']);
    expect(await call()).toMatchObject({ content: [{ text: 'search was called.' }] });
    expect(mcp.calls).toMatchObject([{ name: 'search', input: { query: 'x' } }]);
    expect(mcp.count('initialize')).toBe(initializations);
    for (const { headers } of mcp.requests) expect(headers.authorization).toBe('Bearer x');
  });

  test('is asked once, although it is called several times', async () => {
    await open(start);
    await Promise.all([list(), call(), call()]);
    await call();
    expect(mcp.count('server/discover')).toBe(1);
    expect(mcp.count('tools/list')).toBe(1);
    expect(mcp.count('tools/call')).toBe(3);
  });

  test('gets the idempotency key of a call as a header', async () => {
    await open(start);
    await call(unaborted, { idempotencyKey: 'tcl_1' });
    const sent = mcp.requests.find(({ rpc }) => rpc === 'tools/call');
    expect(sent?.headers['idempotency-key']).toBe('tcl_1');
  });

  test('is listed again after it reported a change', async () => {
    await open(start);
    expect((await list()).tools).toHaveLength(1);
    mcp.offer([tool('a'), tool('b')]);
    expect((await list()).tools).toHaveLength(1);
    await mcp.announce();
    await expect.poll(async () => (await list()).tools.length).toBe(2);
  });

  test('learns that a call is cancelled', async () => {
    await open(start);
    const run = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    mcp.handle(async ({ signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      run.abort(new Error('The run was cancelled.'));
      await cancelled.promise;
      return textResult('Too late.');
    });
    await expect(call(run.signal)).rejects.toThrow('The run was cancelled.');
    await cancelled.promise;
    mcp.handle(() => textResult('Again.'));
    expect(await call()).toMatchObject({ content: [{ text: 'Again.' }] });
  });

  test('reports an error of a tool, and an error of the protocol', async () => {
    await open(start);
    mcp.handle(() => ({ ...textResult('No such order.'), isError: true }));
    expect(await call()).toMatchObject({ isError: true });
    mcp.handle(() => {
      throw new Error('Broken.');
    });
    await expect(call()).rejects.toMatchObject({ code: 'protocol' });
  });

  test('that stops answering has broken the call', async () => {
    await open(start);
    await list();
    mcp.intercept(({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
      response.end();
      return true;
    });
    await expect(call()).rejects.toMatchObject({ code: 'broken', isUnanswered: true });
  });
});

describe('a server of a version with sessions', () => {
  // Real servers answer a method that they do not know, and a request without a session, in several ways.
  test.each<[string, number, (id: unknown) => object | string]>([
    ['404', 404, () => 'Not found'],
    ['405', 405, () => ''],
    [
      '400 and an error',
      400,
      () => ({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'x' } }),
    ],
    [
      'an unknown method',
      200,
      (id) => ({ jsonrpc: '2.0', id, error: { code: -32601, message: 'x' } }),
    ],
    [
      'wrong parameters',
      200,
      (id) => ({ jsonrpc: '2.0', id, error: { code: -32602, message: 'x' } }),
    ],
    ['422', 422, () => ({ detail: [] })],
  ])(
    'is used if it answers the question for its version with %s',
    async (_what, status, answer) => {
      await open(startMcp);
      mcp.intercept(({ rpc, id }, response) => {
        if (rpc !== 'server/discover') return false;
        const body = answer(id);
        const type = typeof body === 'string' ? 'text/plain' : 'application/json';
        response.writeHead(status, { 'content-type': type });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
        return true;
      });
      expect((await list()).tools).toHaveLength(1);
      expect(mcp.count('initialize')).toBe(1);
    },
  );
});

test('a question of the server to the user fails the call, because nobody can answer it', async () => {
  await open(startNewerMcp);
  await list();
  mcp.intercept(({ rpc, id }, response) => {
    if (rpc !== 'tools/call') return false;
    const result = {
      resultType: 'input_required',
      inputRequests: {
        name: {
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
        },
      },
    };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  });
  await expect(call()).rejects.toMatchObject({ code: 'broken' });
});

test.each([202, 500])(
  'a server that answers requests that it does not know with %s is taken for an older one',
  async (status) => {
    await open(startMcp);
    const site = await startSite();
    atTheEnd(site.close);
    const known: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'shop', version: '1' },
      },
      'tools/list': { tools: [tool('search', 'query')] },
    };
    site.handle(({ body }, response) => {
      const { id, method } = body ? JSON.parse(body) : {};
      const result = known[method];
      const refusal = id === undefined ? 202 : status;
      if (!result) return response.writeHead(method ? refusal : 405).end();
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await egress.close();
    egress = createEgress({ allowedHosts: [site.host] });
    servers = createMcpServers({
      egress,
      limits: { unreachable: 0, connect: 240_000, call: 240_000 },
    });
    const { tools } = await servers.list({ ...target(), url: `${site.origin}/mcp` }, unaborted);
    expect(tools.map(({ name }) => name)).toEqual(['search']);
  },
);
