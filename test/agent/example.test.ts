import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type McpSite, startMcp, textResult, tool } from '../helpers/mcp.ts';
import { type Site, startSite } from '../helpers/site.ts';

const ORDERS_KEY = 'orders-key-0123456789';
const GITHUB_TOKEN = 'github-token-0123456789';
const EXAMPLE = new URL('../../prisma/examples/order-desk.agent', import.meta.url);

let shop: Site;
let mcp: McpSite;
let app: TestApp;
let tenant: Tenant;
let bot: string;
let warnings: string[];

/** Deploys the order desk, with other hosts. */
beforeAll(async () => {
  [shop, mcp] = await Promise.all([startSite(), startMcp()]);
  shop.handle(({ method, url, headers }, response) => {
    if (method === 'POST') response.end('{"refunded":true}');
    else response.end(JSON.stringify({ order: url, state: 'late', asked: headers.authorization }));
  });
  mcp.offer([
    tool('search_issues', 'query'),
    tool('delete_repository', 'name'),
    tool('get_issue', 'number'),
  ]);
  mcp.handle(({ name, input }) =>
    textResult(`${name}: 2 issues of "${input.query}"`, GITHUB_TOKEN),
  );
  app = await startApp({ allowedHosts: [shop.host, mcp.host] });
  tenant = await app.tenant();
  bot = await tenant.bot(null);
  const source = await readFile(EXAMPLE, 'utf8');
  const agentlang = source
    .replaceAll('https://api.acme.example', shop.origin)
    .replaceAll('https://mcp.example/github', mcp.url);
  const response = await fetch(`${app.url}/v1/bots/${bot}/deploy`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      agentlang,
      env_vars: { ORDERS_KEY, GITHUB_TOKEN, TELEGRAM_BOT_TOKEN: '1:telegram' },
    }),
  });
  const deployed = (await response.json()) as { status: string; warnings: string[] };
  expect(deployed.status).toBe('deployed');
  warnings = deployed.warnings;
});
afterAll(() => Promise.all([shop.close(), mcp.close()]));
beforeEach(() => {
  shop.requests.length = 0;
  app.upstream.requests.length = 0;
});

type Call = [name: string, input: unknown];

/** Sends one message, for which the model makes these rounds of tool calls and then replies. */
const send = async (message: string, rounds: Call[][], session: string, context?: object) => {
  const left = [...rounds];
  app.upstream.script(({ call, say, end }) => {
    const calls = left.shift();
    if (calls) return call(...calls);
    say('Done.');
    end();
  });
  const response = await tenant.chat(bot, { message, context }, { 'x-session-id': session });
  expect(response.status).toBe(200);
  const reply = (await response.json()) as { response: string; tools_called: string[] };
  const bodies = app.upstream.requests.map(({ body }) => body);
  const results = bodies.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
  return { reply, bodies, results: results.map(({ content }) => content) };
};

const promptWith = (plan: string, name: string) =>
  `You are the order desk of ACME. Be brief.
The customer's plan: ${plan}.
The customer's name, if known: ${name}.
`;

// The last test stops GitHub's server.
describe('the order desk', { shuffle: false }, () => {
  test('is deployed with all of its tools', () => {
    expect(warnings).toEqual([
      expect.stringMatching(
        / the channel telegram cannot be connected: .+ \[channel-unavailable\]$/,
      ),
    ]);
  });

  test('gives the model its instructions, its context and its tools', async () => {
    const { bodies } = await send('Hi', [], 'prompt', { plan: 'gold' });
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toMatchObject({
      model: 'gpt-6-luna',
      reasoning_effort: 'none',
      temperature: 0.2,
      max_tokens: 800,
    });
    expect(bodies[0]?.messages).toEqual([
      {
        role: 'system',
        content: `${promptWith('gold', 'unknown')}\n\n<context>\n{"plan":"gold"}\n</context>`,
      },
      { role: 'user', content: 'Hi' },
    ]);
    expect(bodies[0]?.tools?.map((one) => one.function.name)).toEqual([
      'orders_lookup',
      'orders_refund',
      'github_search_issues',
      'github_get_issue',
      'time_now',
      'memory_save',
      'memory_forget',
    ]);
    expect(bodies[0]?.tools?.[2]?.function).toEqual({
      name: 'github_search_issues',
      description: 'Does search_issues',
      parameters: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
      },
    });
  });

  test('uses all of its tools, with secrets that the model never gets', async () => {
    const { reply, results, bodies } = await send(
      'Where is A-1042? I am Ada.',
      [
        [
          ['orders_lookup', { order_id: 'A-1042', expand: true }],
          ['github_search_issues', { query: 'late orders' }],
          ['time_now', {}],
          ['memory_save', { name: 'name', value: 'Ada' }],
        ],
        [['orders_refund', { order_id: 'A-1042', reason: 'late', items: ['a', 'b'] }]],
      ],
      'work',
    );
    expect(reply).toMatchObject({
      response: 'Done.',
      tools_called: [
        'orders.lookup',
        'github.search_issues',
        'time.now',
        'memory.save',
        'orders.refund',
      ],
    });
    expect(results).toEqual([
      '{"order":"/orders/A-1042?expand=true","state":"late","asked":"Bearer [env.ORDERS_KEY]"}',
      'search_issues: 2 issues of "late orders"\n[env.GITHUB_TOKEN]',
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      'Saved.',
      '{"refunded":true}',
    ]);
    const [lookup, refund] = shop.requests;
    expect(lookup).toMatchObject({
      method: 'GET',
      url: '/orders/A-1042?expand=true',
      headers: { authorization: `Bearer ${ORDERS_KEY}` },
    });
    expect(refund).toMatchObject({
      method: 'POST',
      url: '/refunds',
      headers: { authorization: `Bearer ${ORDERS_KEY}` },
      body: '{"order_id":"A-1042","reason":"late","items":["a","b"]}',
    });
    expect(mcp.calls.at(-1)).toMatchObject({
      name: 'search_issues',
      input: { query: 'late orders' },
    });
    expect(mcp.requests.map(({ headers }) => headers.authorization)).toEqual(
      mcp.requests.map(() => `Bearer ${GITHUB_TOKEN}`),
    );
    expect(JSON.stringify(bodies)).not.toMatch(/(orders-key|github-token)-/);
  });

  test('remembers the name and the messages in the next turn of the same user only', async () => {
    await send('I am Ada.', [[['memory_save', { name: 'name', value: 'Ada' }]]], 'ada');
    app.upstream.requests.length = 0;
    const { bodies } = await send('And now?', [], 'ada');
    expect(bodies[0]?.messages).toMatchObject([
      {
        role: 'system',
        content: `${promptWith('free', 'Ada')}\n\n<memory>\n{"name":"Ada"}\n</memory>`,
      },
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', tool_calls: [{ function: { name: 'memory_save' } }] },
      { role: 'tool', content: 'Saved.' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'And now?' },
    ]);
    app.upstream.requests.length = 0;
    const other = await send('And now?', [], 'bob');
    expect(other.bodies[0]?.messages).toEqual([
      { role: 'system', content: promptWith('free', 'unknown') },
      { role: 'user', content: 'And now?' },
    ]);
  });

  test('makes 8 calls in one run, and then may not call the tools that are still sent', async () => {
    const round = Array.from({ length: 5 }, (): Call => ['time_now', {}]);
    const { reply, results, bodies } = await send('What time is it?', [round, round], 'limits');
    expect(results.map((text) => /^\d{4}-/.test(text))).toEqual([
      ...Array.from({ length: 8 }, () => true),
      false,
      false,
    ]);
    expect(results.at(-1)).toBe('Error: No more tool calls are allowed. Answer without them.');
    expect(bodies.map(({ tools }) => tools?.length)).toEqual([7, 7, 7]);
    expect(bodies.map((body) => body.tool_choice)).toEqual([undefined, undefined, 'none']);
    expect(reply).toMatchObject({ response: 'Done.', tools_called: ['time.now'] });
  });

  test('continues after a restart of GitHub’s server, and without it during its outage', async () => {
    const search: Call = ['github_search_issues', { query: 'x' }];
    await send('Search.', [[search]], 'restart');
    await mcp.restart();
    const { results } = await send('Search.', [[search]], 'restart');
    expect(results.at(-1)).toMatch(/^search_issues: 2 issues/);
    await mcp.stop();
    await mcp.restart();
    app.upstream.requests.length = 0;
    await expect
      .poll(async () => {
        const { bodies } = await send('Hi', [], 'away');
        return bodies.at(-1)?.tools?.map((one) => one.function.name);
      })
      .not.toContain('github_search_issues');
    const { reply } = await send(
      'Where is A-1?',
      [[['orders_lookup', { order_id: 'A-1' }]]],
      'away',
    );
    expect(reply.tools_called).toEqual(['orders.lookup']);
  });
});
