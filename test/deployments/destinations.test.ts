import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newDestinations } from '../../src/deployments/destinations.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type McpSite, startMcp } from '../helpers/mcp.ts';

const KEY = 'a secret of the backend';

/** A definition that sends a header to a URL. */
const definitionFor = (url: string, header = 'Bearer {{ env.KEY }}') =>
  agent(
    `tools shop { capability find "Find" { get "${url}" { header "Authorization" "${header}" } } }`,
  );

const mcpDefinition = (url: string, header = '{{ env.KEY }}') =>
  agent(`tools shop mcp ${url} { header "X-Key" "${header}" }`);

const modelDefinition = (settings: string) => agent(`model "m" { api_key env.KEY ${settings} }`);

/** The errors of a deploy after another one that carries over the value of KEY. */
function refusals(
  before: string,
  source: string,
  { was = {}, now = {} }: { was?: Record<string, string>; now?: Record<string, string> } = {},
): string[] {
  const variables = { KEY, ...was };
  return newDestinations(
    { source, variables: { ...variables, ...now } },
    { source: before, variables },
    new Set(Object.keys(now)),
  ).map(({ message }) => message);
}

const refused = (server: string, name = 'KEY') => [
  `env.${name} was not sent to ${server} before, send its value again to allow this`,
];

describe('a variable that is carried over', () => {
  const shop = definitionFor('https://shop.example/orders');
  const whole = mcpDefinition('env.URL');
  const byHost = definitionFor('https://{{ env.HOST }}.example/{{ env.KEY }}', 'x');

  test.each<[string, string, string, Parameters<typeof refusals>[2], string[]]>([
    ['the same path', shop, definitionFor('https://SHOP.example:443/orders?a=b'), {}, []],
    [
      'another path',
      shop,
      definitionFor('https://shop.example/carts?a=b'),
      {},
      refused('https://shop.example/carts'),
    ],
    [
      'another path of a template',
      definitionFor('https://shop.example/orders/{{ args.id }}'),
      definitionFor('https://shop.example/users/{{ args.id }}'),
      {},
      refused('https://shop.example/users/'),
    ],
    [
      'the same path before a template',
      definitionFor('https://shop.example/orders/{{ args.id }}'),
      definitionFor(
        'https://shop.example/orders/{{ args.id }}/lines/{{ args.line }}?a={{ args.a }}',
      ),
      {},
      [],
    ],
    [
      'a path that leaves the previous one',
      definitionFor('https://shop.example/a/b'),
      definitionFor('https://shop.example/a/b/../c'),
      {},
      refused('https://shop.example/a/b/../c'),
    ],
    [
      'a host that is too long with its value',
      shop,
      byHost,
      { was: { HOST: 'a'.repeat(20_000) } },
      [
        ...refused('https://{{ env.HOST }}.example/', 'HOST'),
        ...refused('https://{{ env.HOST }}.example/'),
      ],
    ],
    [
      'another host',
      shop,
      definitionFor('https://evil.example/'),
      {},
      refused('https://evil.example/'),
    ],
    [
      'another port',
      shop,
      definitionFor('https://shop.example:8443/'),
      {},
      refused('https://shop.example:8443/'),
    ],
    [
      'without TLS',
      shop,
      definitionFor('http://shop.example/'),
      {},
      refused('http://shop.example/'),
    ],
    [
      'in a path',
      shop,
      definitionFor('https://evil.example/{{ env.KEY }}', 'x'),
      {},
      refused('https://evil.example/'),
    ],
    [
      'in a query',
      shop,
      definitionFor('https://evil.example?k={{env.KEY}}', 'x'),
      {},
      refused('https://evil.example'),
    ],
    [
      'in a host',
      shop,
      definitionFor('https://{{ env.KEY }}.evil.example/', 'x'),
      {},
      refused('https://{{ env.KEY }}.evil.example/'),
    ],
    [
      'in a URL fragment',
      shop,
      definitionFor('https://evil.example#shop.example'),
      {},
      refused('https://evil.example'),
    ],
    ['without a previous server', agent(), shop, {}, refused('https://shop.example/orders')],
    [
      'another value at a new host',
      shop,
      definitionFor('https://evil.example/', '{{ env.NEW }}'),
      { now: { NEW: 'new' } },
      [],
    ],
    [
      'with its value sent again',
      shop,
      definitionFor('https://evil.example/'),
      { now: { KEY: 'new' } },
      [],
    ],
    [
      'from a tool to an MCP server',
      shop,
      mcpDefinition('"https://evil.example/mcp"'),
      {},
      refused('https://evil.example/mcp'),
    ],
    ['from a tool to the same URL', shop, mcpDefinition('"https://shop.example/orders"'), {}, []],
    [
      'from a tool to another path of its server',
      shop,
      mcpDefinition('"https://shop.example/mcp"'),
      {},
      refused('https://shop.example/mcp'),
    ],
    [
      'to another URL in a variable',
      whole,
      whole,
      { was: { URL: 'https://a.example/1' }, now: { URL: 'https://b.example/1' } },
      refused('{{ env.URL }}'),
    ],
    [
      'to another path in a variable',
      whole,
      whole,
      { was: { URL: 'https://a.example/1' }, now: { URL: 'https://a.example/2' } },
      refused('{{ env.URL }}'),
    ],
    [
      'to the same literal URL',
      whole,
      mcpDefinition('"https://a.example/1"'),
      { was: { URL: 'https://a.example/1' } },
      [],
    ],
    [
      'to another literal URL of the same host',
      whole,
      mcpDefinition('"https://a.example/"'),
      { was: { URL: 'https://a.example/1' } },
      refused('https://a.example/'),
    ],
    [
      'to another host in a variable',
      byHost,
      byHost,
      { was: { HOST: 'a' }, now: { HOST: 'b' } },
      refused('https://{{ env.HOST }}.example/'),
    ],
    [
      'to another default host',
      byHost,
      byHost.replace('env.HOST', 'env.NONE ?? \\"b\\"'),
      { was: { HOST: 'a' } },
      refused('https://{{ env.NONE }}.example/'),
    ],
    [
      'to the same default host',
      byHost,
      byHost.replace('env.HOST', 'env.NONE ?? \\"a\\"'),
      { was: { HOST: 'a' } },
      [],
    ],
    [
      'to another model server',
      modelDefinition(''),
      modelDefinition('base_url "https://evil.example/v1"'),
      {},
      refused('https://evil.example/v1'),
    ],
    [
      'to the same model server',
      modelDefinition(''),
      modelDefinition('base_url "https://api.openai.com/v1"'),
      {},
      [],
    ],
    [
      'to another path of the same model server',
      modelDefinition(''),
      modelDefinition('base_url "https://api.openai.com/v2"'),
      {},
      refused('https://api.openai.com/v2'),
    ],
    [
      'to the default model server',
      shop,
      modelDefinition(''),
      {},
      refused('https://api.openai.com/v1'),
    ],
    [
      'to another model server in a variable',
      modelDefinition('base_url env.BASE'),
      modelDefinition('base_url env.BASE'),
      { was: { BASE: 'https://a.example' }, now: { BASE: 'https://b.example' } },
      refused('{{ env.BASE }}'),
    ],
    ['to Telegram', shop, agent('channel telegram { token env.KEY }'), {}, []],
    [
      'from a source that is no longer valid',
      'agentlang 4',
      shop,
      {},
      refused('https://shop.example/orders'),
    ],
  ])(
    'may be sent only to its previous servers: %s',
    (_what, before, source, variables, expected) => {
      expect(refusals(before, source, variables)).toEqual(expected);
    },
  );

  test('causes one error for each server, at its first use', () => {
    const get = (name: string, host: string) =>
      `capability ${name} "Get" { get "https://${host}/{{ env.KEY }}" { header "A" "{{ env.KEY }}" } }`;
    const source = agent(
      `tools shop {\n    ${get('a', 'a.example')}\n    ${get('b', 'b.example')}\n  }`,
    );
    const before = { source: agent(), variables: { KEY } };
    const columnIn = (line: number) => (source.split('\n')[line - 1] ?? '').indexOf('env.KEY') + 1;
    const found = newDestinations({ source, variables: { KEY } }, before, new Set());
    expect(found).toMatchObject([
      { line: 6, column: columnIn(6), code: 'env-new-destination', severity: 'ERROR' },
      { line: 7, column: columnIn(7) },
    ]);
  });

  test('is compared with a bounded number of servers, also in an invalid source', () => {
    const get = 'capability a "Get" { get "https://{{ env.KEY }}/" }\n';
    const source = agent(`tools shop {\n${get.repeat(4_000)}}`);
    const parse = vi.spyOn(URL, 'parse');
    const found = refusals(agent(), source);
    const { length } = parse.mock.calls;
    parse.mockRestore();
    expect(found).toEqual(refused('https://{{ env.KEY }}/'));
    expect(length).toBeLessThanOrEqual(256);
  });

  test('causes an error without values or text that resembles a secret', () => {
    const source = definitionFor('https://sk-abcdefghij0123456789.example/');
    expect(refusals(agent(), source)).toEqual(refused('this server'));
  });
});

describe('a deploy', () => {
  let site: McpSite;
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    site = await startMcp();
    app = await startApp({ allowedHosts: [site.host] });
    tenant = await app.tenant();
  });
  afterAll(() => site.close());

  type Reply = { status: string; deployment_id: string; parse_errors: string[] };
  const post = async (path: string, body: object): Promise<Reply> => {
    const response = await fetch(`${app.url}/v1/bots/${path}`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Reply;
  };
  const env_vars = { KEY };
  const good = definitionFor('https://shop.example/');
  const other = definitionFor('https://evil.example/');
  const activeSource = async (bot: string) => {
    const { data } = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { activeDeployment { source } } }',
      { id: bot },
    );
    return data.bot.activeDeployment.source;
  };

  test('fails if a carried-over variable would be sent to a new server, until its value is sent again', async () => {
    const bot = await tenant.bot(null);
    await post(`${bot}/deploy`, { agentlang: good, env_vars });
    const failed = await post(`${bot}/deploy`, { agentlang: other });
    expect(failed.status).toBe('failed');
    expect(failed.parse_errors).toEqual([
      `5:${(other.split('\n')[4] ?? '').indexOf('env.KEY') + 1} env.KEY was not sent to https://evil.example/ before, send its value again to allow this [env-new-destination]`,
    ]);
    expect(await activeSource(bot)).toBe(good);
    expect((await post(`${bot}/deploy`, { agentlang: good })).status).toBe('deployed');
    expect((await post(`${bot}/deploy`, { agentlang: other, env_vars })).status).toBe('deployed');
    expect((await post(`${bot}/deploy`, { agentlang: other })).status).toBe('deployed');
  });

  test('sends no carried-over variable to a new MCP server', async () => {
    const bot = await tenant.bot(null);
    await post(`${bot}/deploy`, { agentlang: good, env_vars });
    const source = mcpDefinition(`"${site.url}"`);
    expect((await post(`${bot}/deploy`, { agentlang: source })).status).toBe('failed');
    expect(site.requests).toEqual([]);
    expect((await post(`${bot}/deploy`, { agentlang: source, env_vars })).status).toBe('deployed');
    expect(site.requests.length).toBeGreaterThan(0);
  });

  test('may be rolled back to and promoted with its own variables', async () => {
    const bot = await tenant.bot(null);
    const first = await post(`${bot}/deploy`, { agentlang: other, env_vars });
    await post(`${bot}/deploy`, { agentlang: good, env_vars });
    expect((await post(`${bot}/deploy`, { agentlang: other })).status).toBe('failed');
    const back = await post(`${bot}/deployments/${first.deployment_id}/rollback`, {});
    expect(back.status).toBe('deployed');
    const staged = await post(`${bot}/deploy`, {
      agentlang: good,
      environment: 'staging',
      env_vars,
    });
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!, $id: ID!) { promote(botId: $bot, deploymentId: $id) { status } }',
      { bot, id: staged.deployment_id },
    );
    expect(data.promote).toEqual({ status: 'DEPLOYED' });
  });

  test('with other errors reports only those', async () => {
    const bot = await tenant.bot(null);
    await post(`${bot}/deploy`, { agentlang: good, env_vars });
    const { parse_errors } = await post(`${bot}/deploy`, {
      agentlang: other.replace('description', 'descripton'),
    });
    expect(parse_errors).toEqual([expect.stringContaining('[unknown-setting]')]);
  });
});
