import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../../helpers/app.ts';
import { createTestDeploy } from '../../helpers/deploy.ts';
import { type McpSite, startMcp, textResult, tool } from '../../helpers/mcp.ts';

let mcp: McpSite;
let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  mcp = await startMcp();
  mcp.offer([tool('search', 'query')]);
  app = await startApp({ allowedHosts: [mcp.host] });
  tenant = await app.tenant();
});
afterAll(() => mcp.close());
beforeEach(() => {
  mcp.intercept(undefined);
  mcp.handle(({ name }) => textResult(`${name} was called.`));
});

type Span = { name: string; status: string; attributes: Record<string, unknown> };

const botWith = async (members: string) => {
  const botId = await tenant.bot(null);
  const request = { botId, environment: 'PRODUCTION', source: agent(members) } as const;
  const deployNow = createTestDeploy({ prisma: app.prisma, cipher: testCipher });
  const { status } = await deployNow({
    action: 'DEPLOY',
    ...request,
    envVars: { URL: mcp.url },
    unsetEnvVars: [],
  });
  expect(status).toBe('DEPLOYED');
  return botId;
};

/** Sends one message, for which the model first makes these tool calls, if any. @returns the spans of the run. */
const spansOf = async (botId: string, ...calls: [name: string, input: unknown][]) => {
  let isFirst = true;
  app.upstream.script(({ call, say, end }) => {
    if (isFirst && calls.length > 0) call(...calls);
    else {
      say('Done.');
      end();
    }
    isFirst = false;
  });
  const response = await tenant.chat(botId, { message: 'Hi' });
  expect(response.status).toBe(200);
  const { data } = await tenant.graphql(
    'query ($id: ID!) { run(id: $id) { trace { spans { name status attributes } } } }',
    { id: response.headers.get('x-run-id') },
  );
  return data.run.trace.spans as Span[];
};
const named = (spans: Span[], name: string) => spans.find((span) => span.name === name);

describe('the trace of a run with an MCP server', () => {
  test('has a span for connecting, between the memory and the prompt', async () => {
    const bot = await botWith('tools github mcp env.URL\n  tools time');
    const spans = await spansOf(bot, ['github_search', { query: 'x' }], ['time_now', {}]);
    expect(spans.slice(1, 6).map(({ name }) => name)).toEqual([
      'load_history',
      'inject_memory',
      'connect_tools',
      'merge_context',
      'send_to_model',
    ]);
    expect(named(spans, 'connect_tools')).toMatchObject({ status: 'UNSET', attributes: {} });
    expect(named(spans, 'execute_tool github.search')?.status).toBe('UNSET');
  });

  test('lists missing tools, servers and header values', async () => {
    const bot = await botWith(`tools github mcp env.URL {
    header "X-User" "{{ context.user }}"
    only   search, list
  }
  tools inside mcp "https://127.0.0.1/mcp"`);
    const spans = await spansOf(bot);
    expect(named(spans, 'connect_tools')?.attributes).toEqual({
      'parley.tools.missing': ['github.list', 'inside.*'],
      'parley.template.missing': ['context.user'],
    });
  });

  test('has the type of a call’s error', async () => {
    const bot = await botWith('tools github mcp env.URL');
    const search: [string, unknown] = ['github_search', { query: 'x' }];
    const typeOf = async (call = search) => {
      const span = named(await spansOf(bot, call), 'execute_tool github.search');
      return span?.attributes['error.type'];
    };
    expect(await typeOf(['github_search', { query: 1 }])).toBe('invalid_arguments');
    mcp.intercept(({ rpc }, response) => {
      if (rpc === 'tools/call') response.writeHead(403).end();
      return rpc === 'tools/call';
    });
    expect(await typeOf()).toBe('403');
    mcp.intercept(({ rpc }, response) => {
      if (rpc === 'tools/call') response.writeHead(200, { 'content-type': 'text/html' }).end();
      return rpc === 'tools/call';
    });
    expect(await typeOf()).toBe('broken_answer');
    mcp.intercept(undefined);
    mcp.handle(() => ({ content: [], isError: true }));
    expect(await typeOf()).toBe('tool_error');
    mcp.handle(() => {
      throw new Error('No.');
    });
    expect(await typeOf()).toBe('protocol_error');
  });

  test('has no such span without a server', async () => {
    const spans = await spansOf(await botWith('tools time'));
    expect(named(spans, 'connect_tools')).toBeUndefined();
  });
});
