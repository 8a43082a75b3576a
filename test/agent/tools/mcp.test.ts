import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMcpServers, type McpServers } from '../../../src/agent/mcp/servers.ts';
import { createMcpTools, type McpToolDependencies } from '../../../src/agent/tools/mcp.ts';
import { type Tool, ToolError } from '../../../src/agent/tools/tool.ts';
import { createEgress, type Egress } from '../../../src/egress/egress.ts';
import type { McpGroup } from '../../../src/language/definition.ts';
import { createRedactor } from '../../../src/redaction/redact.ts';
import { type McpSite, startMcp, textResult, tool } from '../../helpers/mcp.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { callTool } from '../../helpers/tools.ts';

const variables = { TOKEN: 'token-0123456789', SHORT: 'abc' };
const redactor = createRedactor(variables);

/** No test that waits for a response reaches these limits, even on a slow machine. */
const LONG_LIMITS = { unreachable: 0, connect: 240_000, call: 240_000 };

let mcp: McpSite;
let egress: Egress;
let servers: McpServers;
beforeEach(async () => {
  mcp = await startMcp();
  mcp.offer([tool('search', 'query'), tool('read', 'id'), tool('delete', 'id')]);
  egress = createEgress({ allowedHosts: [mcp.host] });
  servers = createMcpServers({ egress, limits: LONG_LIMITS });
});
afterEach(async () => {
  await servers.close();
  await egress.close();
  await mcp.close();
});

const context = (values: object = {}, signal = new AbortController().signal) => ({
  signal,
  values: { context: {}, memory: {}, session: { id: 'user-1' }, now: '2026-01-01', ...values },
});
const find = (
  group: Partial<McpGroup> = {},
  more: Partial<McpToolDependencies> = {},
): ReturnType<typeof createMcpTools> =>
  createMcpTools(
    {
      type: 'mcp',
      name: 'github',
      url: mcp.url,
      headers: [],
      approvals: [],
      reads: [],
      repeatable: [],
      labels: [],
      ...group,
    },
    {
      servers,
      deployment: { deploymentId: 'dep_1', accountId: 'acc_1', variables, redactor },
      context: context(),
      ...more,
    },
  );
const names = async (group: Partial<McpGroup> = {}) =>
  (await find(group)).tools.map(({ name }) => name);
const call = async (name: string, input: unknown, signal?: AbortSignal) => {
  const { tools, notes } = await find();
  const found = tools.find((one) => one.name === `github.${name}`);
  if (!found) throw new Error(`There is no tool "${name}": ${notes}`);
  return callTool(found, input, context({}, signal));
};
/** Calls the first of some tools. */
const search = ([tool]: Tool[]) => {
  if (!tool) throw new Error('There is no tool.');
  return callTool(tool, { query: 'x' }, context());
};
const problem = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ToolError);
  expect(error.message).not.toContain('127.0.0.1');
  return error.message;
};
const header = (name: string, ...value: McpGroup['headers'][number]['value']) => ({ name, value });

describe('the tools of an MCP server', () => {
  test('are offered to the model with the name of their group, from every page', async () => {
    mcp.offer([tool('a'), tool('b'), tool('c', 'id'), tool('d'), tool('e')], 2);
    const { tools, notes } = await find();
    expect(tools.map(({ name }) => name)).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => `github.${name}`),
    );
    expect(tools[2]).toMatchObject({
      description: 'Does c',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    });
    expect(notes).toEqual([]);
    expect(mcp.count('tools/list')).toBe(3);
  });

  test('are the tools of "only", in its order, with a note about missing ones', async () => {
    const { tools, notes } = await find({ only: ['delete', 'serach', 'search'] });
    expect(tools.map(({ name }) => name)).toEqual(['github.delete', 'github.search']);
    expect(notes).toEqual(['github has no tool "serach".']);
  });

  test('are limited to 128, from at most 10 pages', async () => {
    const many = Array.from({ length: 300 }, (_, index) => tool(`t${index}`));
    mcp.offer(many);
    const { tools, notes, leftOut } = await find();
    expect(tools).toHaveLength(128);
    expect(leftOut).toBe(72);
    expect(notes).toEqual([
      '72 tools of github are omitted. A server has at most 128, each with a schema of at most 16 KiB and 32 levels.',
    ]);
    expect(mcp.count('tools/list')).toBe(2);
    expect(await names({ only: ['t299'] })).toEqual(['github.t299']);
    mcp.offer(many, 2);
    const deployment = { deploymentId: 'dep_2', accountId: 'acc_1', variables, redactor };
    expect((await find({}, { deployment })).tools).toHaveLength(20);
  });

  test('are omitted if invalid, without affecting others', async () => {
    const deep = (levels: number): object => (levels ? { items: deep(levels - 1) } : {});
    const schema = { type: 'object' };
    mcp.offer([
      { name: 'no_schema' },
      { name: 'list', inputSchema: { type: 'array' } },
      { name: '', inputSchema: schema },
      { name: 'n'.repeat(129), inputSchema: schema },
      { name: 'large', inputSchema: { ...schema, description: 'x'.repeat(16 * 1024) } },
      { name: 'deep', inputSchema: { ...schema, ...deep(40) } },
      { name: variables.TOKEN, inputSchema: schema },
      7,
      { name: 'good', inputSchema: schema, annotations: 7 },
      { name: 'good', inputSchema: schema, description: 'Another.' },
    ]);
    expect((await find()).tools).toMatchObject([
      { name: 'github.good', description: '', inputSchema: { type: 'object' } },
    ]);
  });

  test('have secrets redacted and unstorable characters replaced', async () => {
    mcp.offer([
      {
        name: 'search',
        description: `Uses ${variables.TOKEN}.\u0000`,
        inputSchema: { type: 'object', properties: { q: { enum: [variables.TOKEN, 1] } } },
      },
    ]);
    expect((await find()).tools).toMatchObject([
      {
        description: 'Uses [env.TOKEN].\uFFFD',
        inputSchema: { properties: { q: { enum: ['[env.TOKEN]', 1] } } },
      },
    ]);
  });

  test('are cached until the server reports a change', async () => {
    await names();
    await names();
    expect(mcp.count('tools/list')).toBe(1);
    expect(mcp.count('initialize')).toBe(1);
    mcp.offer([tool('new')]);
    await mcp.announce();
    await expect.poll(() => names(), { interval: 1 }).toEqual(['github.new']);
    expect(mcp.count('initialize')).toBe(1);
  });

  test('are listed again after the notification stream was interrupted', async () => {
    const stream = Promise.withResolvers<ServerResponse>();
    mcp.intercept(({ method }, response) => {
      if (method !== 'GET') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      stream.resolve(response);
      return true;
    });
    await names();
    mcp.offer([tool('new')]);
    (await stream.promise).end();
    await expect.poll(() => names(), { interval: 1 }).toEqual(['github.new']);
    expect(mcp.count('initialize')).toBe(1);
  });

  test('are available from a server that refuses every GET with 405', async () => {
    mcp.intercept(({ method }, response) => {
      if (method === 'GET') response.writeHead(405).end();
      return method === 'GET';
    });
    expect(await names()).toHaveLength(3);
    expect(await call('search', { query: 'x' })).toBe('search was called.');
  });

  test('are none if the server has none', async () => {
    mcp.offer([]);
    expect(await find()).toEqual({ tools: [], notes: [], missing: [], unset: [] });
  });
});

describe('a call of an MCP tool', () => {
  test('sends the input and returns the texts', async () => {
    mcp.handle(({ input }) => textResult(`You sent ${input.query}.`, 'That is all.'));
    expect(await call('search', { query: 'bugs' })).toBe('You sent bugs.\nThat is all.');
    expect(mcp.calls).toMatchObject([{ name: 'search', input: { query: 'bugs' } }]);
  });

  test('carries its idempotency key as a header, unless the definition sets that header', async () => {
    const send = async (headers: McpGroup['headers']) => {
      const { tools } = await find({ headers });
      await tools[0]?.prepare({ query: 'x' }, context()).send('tcl_1');
      const keys = mcp.requests.map((request) => request.headers['idempotency-key']);
      return keys.findLast((key) => key !== undefined);
    };
    expect(await send([])).toBe('tcl_1');
    expect(await send([header('Idempotency-Key', 'own')])).toBe('own');
  });

  test('runs concurrently with others in one session, each with its own result', async () => {
    const first = Promise.withResolvers<void>();
    mcp.handle(async ({ input: { query } }) => {
      if (query === 'a') await first.promise;
      else first.resolve();
      return textResult(`Found ${query}.`);
    });
    const answers = await Promise.all(['a', 'b', 'c'].map((query) => call('search', { query })));
    expect(answers).toEqual(['Found a.', 'Found b.', 'Found c.']);
    expect(mcp.sessions()).toBe(1);
  });

  test('describes other types of content', async () => {
    mcp.handle(() => ({
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', mimeType: 'image/png', data: Buffer.alloc(1234).toString('base64') },
        { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
        { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
        { type: 'resource', resource: { uri: 'file:///b.txt', text: 'The text of b.' } },
        { type: 'resource', resource: { uri: 'file:///c.zip', blob: 'AAAA' } },
      ],
      structuredContent: { unused: true },
    }));
    expect(await call('search', { query: 'x' })).toBe(
      [
        'Look:',
        '[image image/png, 1234 bytes]',
        '[audio audio/wav, 3 bytes]',
        '[resource file:///a.txt]',
        'The text of b.',
        '[resource file:///c.zip of an unknown type, 3 bytes]',
      ].join('\n'),
    );
  });

  test('returns structured content as JSON if there is no text', async () => {
    mcp.handle(() => ({ content: [], structuredContent: { found: [1, 2] } }));
    expect(await call('search', { query: 'x' })).toBe('{"found":[1,2]}');
  });

  test.each<[string, string, string]>([
    [
      'very many items',
      JSON.stringify({ content: Array(300).fill({ type: 'text', text: 'x' }) }),
      'x\n[More content was omitted.]',
    ],
    [
      'very deep structures',
      `{"content":[],"structuredContent":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      '[content that is nested too deeply]',
    ],
  ])('truncates %s', async (_what, result, end) => {
    mcp.intercept(({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":2,"result":${result}}`);
      return true;
    });
    expect((await call('search', { query: 'x' })).endsWith(end)).toBe(true);
  });

  test('truncates a result at 64 KiB, with a note', async () => {
    mcp.handle(() => textResult('é'.repeat(512 * 1024)));
    const text = await call('search', { query: 'x' });
    expect(text).toMatch(/^é+\n\[The answer was longer and is cut here\.\]$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
  });

  test('fails if a response is over 4 MiB', async () => {
    mcp.handle(() => textResult('a'.repeat(5 * 1024 * 1024)));
    expect(await problem(call('search', { query: 'x' }))).toBe(
      "The server's response is incomplete or invalid.",
    );
  });

  test('fails if the server reports an error, with up to 2 KiB of its text', async () => {
    mcp.handle(() => ({ ...textResult('No such repository.'), isError: true }));
    expect(await problem(call('search', { query: 'x' }))).toBe('No such repository.');
    mcp.handle(() => ({ ...textResult('é'.repeat(5000)), isError: true }));
    expect(await problem(call('search', { query: 'x' }))).toBe('é'.repeat(1024));
    mcp.handle(() => ({ content: [], isError: true }));
    expect(await problem(call('search', { query: 'x' }))).toBe('The tool failed.');
  });

  test('fails if the tool throws, with secrets redacted', async () => {
    mcp.handle(() => {
      throw new Error(`The key ${variables.TOKEN} is not valid.`);
    });
    expect(await problem(call('search', { query: 'x' }))).toBe('The key [env.TOKEN] is not valid.');
  });

  test('validates the input before the request', async () => {
    expect(await problem(call('search', { query: 7 }))).toMatch(
      /^The input is not valid\. query: .*string/,
    );
    expect(await problem(call('search', {}))).toMatch(/^The input is not valid\. query: /);
    expect(await problem(call('search', ['x']))).toBe('The input is not valid. must be an object');
    expect(mcp.calls).toEqual([]);
  });

  test('leaves schemas that are unsafe to check to the server, and never changes the input', async () => {
    const inputSchema = {
      $defs: { word: { type: 'string' } },
      type: 'object',
      properties: { word: { $ref: '#/$defs/word' } },
    };
    const nested = (levels: number): object =>
      levels ? { type: Array(5).fill('object'), properties: { a: nested(levels - 1) } } : {};
    const pattern = { type: 'string', pattern: '^(a+)+$', format: 'uri', default: 'x' };
    mcp.offer([
      { name: 'ref', inputSchema },
      { name: 'many', inputSchema: { type: 'object', properties: { a: nested(12) } } },
      { name: 'not', inputSchema: { type: 'object', not: { required: ['a'] } } },
      { name: 'grep', inputSchema: { type: 'object', properties: { pattern, format: pattern } } },
    ]);
    await call('ref', { word: 7 });
    await call('many', { a: {} });
    await call('not', { a: 1 });
    await call('grep', { pattern: `${'a'.repeat(64)}!` });
    expect(mcp.calls.map(({ input }) => input)).toEqual([
      { word: 7 },
      { a: {} },
      { a: 1 },
      { pattern: `${'a'.repeat(64)}!` },
    ]);
    expect(await problem(call('grep', { pattern: 7 }))).toMatch(/pattern: /);
  });

  test('is cancelled at its time limit, also at the server', async () => {
    const callLimit = 54_321;
    servers = createMcpServers({ egress, limits: { ...LONG_LIMITS, call: callLimit } });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    const cancelled = Promise.withResolvers<void>();
    mcp.handle(({ signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      const [expire] = timers.mock.calls.find(([, delay]) => delay === callLimit) ?? [];
      expire?.();
      return new Promise(() => {});
    });
    expect(await problem(call('search', { query: 'x' }))).toBe(
      'The server did not answer in time.',
    );
    await cancelled.promise;
    mcp.handle(() => textResult('Quick.'));
    expect(await call('search', { query: 'x' })).toBe('Quick.');
    expect(mcp.count('initialize')).toBe(1);
  });

  test('is cancelled with its run, also at the server', async () => {
    const run = new AbortController();
    const reason = new Error('The run ended.');
    const cancelled = Promise.withResolvers<void>();
    mcp.handle(({ signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      run.abort(reason);
      return new Promise(() => {});
    });
    await expect(call('search', { query: 'x' }, run.signal)).rejects.toBe(reason);
    await cancelled.promise;
  });

  test('returns no value of a variable from its headers', async () => {
    const headers = [header('Authorization', 'Bearer ', { path: ['env', 'TOKEN'] })];
    mcp.handle(() => textResult(`You are ${mcp.requests.at(-1)?.headers.authorization}.`));
    const { tools } = await find({ headers });
    const answer = await search(tools);
    expect(answer).toBe('You are Bearer [env.TOKEN].');
    expect(new Set(mcp.requests.map((request) => request.headers.authorization))).toEqual(
      new Set([`Bearer ${variables.TOKEN}`]),
    );
  });
});

describe('the session with an MCP server', () => {
  test('is renewed, and the call repeated, if the server was restarted', async () => {
    const { tools } = await find();
    await mcp.restart();
    expect(await search(tools)).toBe('search was called.');
    expect(mcp.count('initialize')).toBe(2);
    await mcp.restart();
    await Promise.all([1, 2, 3].map(() => search(tools)));
    expect(mcp.count('initialize')).toBe(3);
    expect(mcp.calls).toHaveLength(4);
  });

  test('is shared by calls with equal headers of the same deployment', async () => {
    const headers = [header('X-Key', { path: ['env', 'SHORT'] })];
    const as = (id: string, deploymentId = 'dep_1') =>
      find(
        { headers },
        {
          context: context({ session: { id } }),
          deployment: { deploymentId, accountId: 'acc_1', variables, redactor },
        },
      );
    await Promise.all([as('user-1'), as('user-2'), as('user-3')]);
    expect(mcp.sessions()).toBe(1);
    await as('user-1', 'dep_2');
    expect(mcp.sessions()).toBe(2);
  });

  test.each(['context', 'memory', 'session'])(
    'is never shared by two users if the headers contain values of %s',
    async (root) => {
      const headers = [header('X-User', { path: [root, 'none'] })];
      const as = (id: string) => find({ headers }, { context: context({ session: { id } }) });
      await Promise.all([as('user-1'), as('user-2')]);
      await as('user-1');
      expect(mcp.sessions()).toBe(2);
    },
  );

  test('is closed at the server when the application shuts down', async () => {
    servers = createMcpServers({ egress, limits: { ...LONG_LIMITS, close: 240_000 } });
    await find();
    expect(mcp.sessions()).toBe(1);
    await servers.close();
    expect(mcp.sessions()).toBe(0);
  });

  test('repeats an interrupted call only if the tool is read-only', async () => {
    const annotations = { readOnlyHint: true };
    mcp.offer([tool('delete', 'id'), { ...tool('read', 'id'), annotations }]);
    let isFirst = true;
    mcp.intercept(({ rpc }, response) => {
      if (rpc !== 'tools/call' || !isFirst) return false;
      isFirst = false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': working\n\n', () => response.destroy());
      return true;
    });
    const broken = "The server's response is incomplete or invalid.";
    expect(await problem(call('delete', { id: '1' }))).toBe(broken);
    expect(mcp.calls).toEqual([]);
    expect(await call('delete', { id: '1' })).toBe('delete was called.');
    isFirst = true;
    expect(await call('read', { id: '1' })).toBe('read was called.');
    expect(mcp.calls.map(({ name }) => name)).toEqual(['delete', 'read']);
  });

  test.each<[string, number, string, string]>([
    ['broken JSON', 200, 'application/json', '{"jsonrpc":'],
    ['JSON of another type', 200, 'application/json', '[1, 2]'],
    ['a web page', 200, 'text/html', '<p>Hello</p>'],
    ['a stream without a result', 200, 'text/event-stream', 'data: {"a": 1}\n\ndata: x'],
  ])('reports %s to the model as an invalid response', async (_what, ...answer) => {
    const [status, type, body] = answer;
    mcp.intercept(({ rpc }, response) => {
      if (rpc === 'tools/call') response.writeHead(status, { 'content-type': type }).end(body);
      return rpc === 'tools/call';
    });
    expect(await problem(call('search', { query: 'x' }))).toBe(
      "The server's response is incomplete or invalid.",
    );
  });

  test('reports the status of a refusal to the model, without its body', async () => {
    mcp.intercept(({ rpc }, response) => {
      if (rpc === 'tools/call') response.writeHead(403).end('at 127.0.0.1');
      return rpc === 'tools/call';
    });
    expect(await problem(call('search', { query: 'x' }))).toBe(
      'The server answered with HTTP status 403.',
    );
  });
});

describe('an MCP server that cannot be reached', () => {
  const left = 'The tools of github are unavailable. ';

  test('has no tools, and a note has the reason', async () => {
    await mcp.stop();
    expect(await find()).toEqual({
      tools: [],
      notes: [`${left}The server cannot be reached.`],
      missing: ['github.*'],
      unset: [],
      problem: `${left}The server cannot be reached.`,
    });
    expect((await find({ url: { env: 'NONE' } })).notes).toEqual([
      `${left}The variable for the server's URL is not set.`,
    ]);
    expect((await find({ url: { env: 'SHORT' } })).notes[0]).toMatch(/URL must use/);
    const lines = [header('X-Note', { path: ['context', 'note'] })];
    const { notes } = await find(
      { headers: lines },
      { context: context({ context: { note: 'a\nb' } }) },
    );
    expect(notes[0]).toMatch(/The value of the header "X-Note" must be a single line/);
  });

  test('fails at the time limit, and is not contacted again for a while', async () => {
    servers = createMcpServers({ egress, limits: { connect: 50, unreachable: 60_000 } });
    mcp.intercept(() => true);
    const late = [`${left}The server did not answer in time.`];
    expect((await find()).notes).toEqual(late);
    // Another attempt would fail with another error, because no server listens.
    await mcp.stop();
    expect((await find()).notes).toEqual(late);
  });

  test('fails if its listing never ends', async () => {
    servers = createMcpServers({ egress, limits: { connect: 200, unreachable: 0 } });
    mcp.intercept(({ rpc }) => rpc === 'tools/list');
    expect((await find()).notes).toEqual([`${left}The server did not answer in time.`]);
  });

  test('does not delay a run that has ended', async () => {
    const run = new AbortController();
    mcp.intercept(() => {
      run.abort();
      return true;
    });
    const found = await find({}, { context: context({}, run.signal) });
    expect(found).toEqual({ tools: [], notes: [], missing: [], unset: [] });
  });

  test('is used again as soon as it responds, and its absence during a run is a tool error', async () => {
    const { tools } = await find();
    mcp.intercept((_request, response) => {
      response.destroy();
      return true;
    });
    expect(await problem(search(tools))).toMatch(
      /^The server('s response is incomplete or invalid| cannot be reached)\.$/,
    );
    expect((await find()).notes).toHaveLength(1);
    mcp.intercept(undefined);
    expect(await names()).toHaveLength(3);
  });

  test('is reported with its status if it refuses the key', async () => {
    mcp.intercept((_request, response) => {
      response.writeHead(401).end(variables.TOKEN);
      return true;
    });
    expect((await find()).notes).toEqual([`${left}The server answered with HTTP status 401.`]);
  });
});

describe('headers that are too long', () => {
  test('omit the tools of their server, with a note about the reason', async () => {
    const values = { context: { text: 'x'.repeat(100_000) } };
    const found = await find(
      { headers: [header('X-Text', { path: ['context', 'text'] })] },
      { context: context(values) },
    );
    expect(found).toMatchObject({ tools: [], missing: ['github.*'] });
    expect(found.notes).toEqual([
      expect.stringContaining(
        'The headers are longer than 65536 characters with their values in place.',
      ),
    ]);
    expect(mcp.count('initialize')).toBe(0);
  });
});

describe('the egress guard', () => {
  let inside: Site;
  beforeEach(async () => {
    inside = await startSite();
  });
  afterEach(() => inside.close());

  test('blocks an MCP server at a private address', async () => {
    const { notes } = await find({ url: `${inside.origin}/mcp` });
    expect(notes).toEqual([
      'The tools of github are unavailable. Private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS.',
    ]);
    expect(inside.connections()).toBe(0);
  });

  test('blocks a redirect of an MCP server to a private address', async () => {
    mcp.intercept((_request, response) => {
      response.writeHead(307, { location: `${inside.origin}/mcp` }).end();
      return true;
    });
    expect((await find()).notes).toEqual([
      'The tools of github are unavailable. Private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS.',
    ]);
    expect(inside.connections()).toBe(0);
  });

  test('follows a redirect of the server to itself', async () => {
    mcp.intercept(({ headers, rpc }, response) => {
      const isMoved = rpc === 'initialize' && headers['x-moved'] === undefined;
      if (isMoved && mcp.count('initialize') === 1) {
        response.writeHead(307, { location: '/elsewhere' }).end();
        return true;
      }
      return false;
    });
    expect(await names()).toHaveLength(3);
  });
});
