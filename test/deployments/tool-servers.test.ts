import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMcpServers } from '../../src/agent/mcp/servers.ts';
import { createToolProbe } from '../../src/agent/tools/probe.ts';
import { createEgress } from '../../src/egress/egress.ts';
import type { McpGroup } from '../../src/language/definition.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type McpSite, startMcp, tool } from '../helpers/mcp.ts';

let mcp: McpSite;
let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  mcp = await startMcp();
  mcp.offer([tool('search'), tool('read')]);
  app = await startApp({ allowedHosts: [mcp.host] });
  tenant = await app.tenant();
});
afterAll(() => mcp.close());
beforeEach(() => {
  mcp.intercept(undefined);
  mcp.requests.length = 0;
});

type Reply = { deployment_id: string; status: string; warnings: string[]; parse_errors: string[] };

const post = async (path: string, body: object): Promise<Reply> => {
  const response = await fetch(`${app.url}/v1/bots/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
};
const deploy = (bot: string, members: string, more: object = {}) =>
  post(`${bot}/deploy`, { agentlang: agent(members), ...more });

const REFUSED = 'the server answered with HTTP status 401';
const refuse = () =>
  mcp.intercept((_request, response) => {
    response.writeHead(401).end();
    return true;
  });

describe('a deploy of a definition with MCP servers', () => {
  test('has no warnings if all servers and tools are available', async () => {
    const bot = await tenant.bot(null);
    const members = `prompt "Hi"\n  tools github mcp "${mcp.url}" { only read, search }`;
    const { status, warnings } = await deploy(bot, members);
    expect(status).toBe('deployed');
    expect(warnings).toEqual([]);
    expect(mcp.count('tools/list')).toBe(1);
    await expect.poll(() => mcp.sessions(), { interval: 1 }).toBe(0);
  });

  test('has a warning at each server that cannot be reached, and deploys', async () => {
    const bot = await tenant.bot(null);
    const { status, warnings } = await deploy(
      bot,
      `prompt "Hi"
  tools inside mcp env.INSIDE { only a }
  tools none   mcp env.NONE
  tools there  mcp env.THERE`,
      { env_vars: { INSIDE: 'http://127.0.0.1:1/mcp', THERE: mcp.url } },
    );
    expect(status).toBe('deployed');
    expect(warnings).toEqual([
      '6:9 the tools of inside cannot be connected: private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS [tools-unavailable]',
      '7:24 env.NONE has no value in this deployment [env-unset]',
    ]);
  });

  test('has a warning about a tool that the server does not have, with a suggestion', async () => {
    const bot = await tenant.bot(null);
    const { warnings } = await deploy(
      bot,
      'prompt "Hi"\n  tools github mcp env.URL { only serach, read }',
      { env_vars: { URL: mcp.url } },
    );
    expect(warnings).toEqual([
      '6:35 github has no tool "serach", did you mean "search"? [tool-unknown]',
    ]);
  });

  test('has a warning about an approval of a tool that the server does not have', async () => {
    const bot = await tenant.bot(null);
    const { warnings } = await deploy(
      bot,
      `prompt "Hi"
  tools github mcp env.URL {
    approval serach "A person must agree."
    approval all
    reads    serach, read
  }`,
      { env_vars: { URL: mcp.url } },
    );
    expect(warnings).toEqual([
      '7:14 github has no tool "serach", did you mean "search"? [tool-unknown]',
    ]);
  });

  test('connects with its own variables, and reveals none of them', async () => {
    const bot = await tenant.bot(null);
    const members =
      'prompt "Hi"\n  tools g mcp env.URL { header "Authorization" "Bearer {{ env.KEY }}" }';
    await deploy(bot, members, { env_vars: { URL: mcp.url, KEY: 'key-0123456789' } });
    mcp.intercept(({ headers, rpc }, response) => {
      if (rpc !== 'initialize') return false;
      const error = { code: -32602, message: `Not you,\n${headers.authorization}!` };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, error }));
      return true;
    });
    const { warnings } = await deploy(bot, members);
    expect(warnings).toEqual([
      '6:9 the tools of g cannot be connected: not you, Bearer [env.KEY]! [tools-unavailable]',
    ]);
  });

  test('has no warning about a server with per-user headers that refuses the deploy', async () => {
    const bot = await tenant.bot(null);
    const members = 'prompt "Hi"\n  tools g mcp env.URL { header "X-User" "{{ context.token }}" }';
    refuse();
    const { warnings } = await deploy(bot, members, { env_vars: { URL: mcp.url } });
    expect(warnings).toEqual([]);
    // An earlier session may be closed only now.
    expect(mcp.count('server/discover')).toBe(1);
  });

  test('does not connect to servers if the source has errors', async () => {
    const bot = await tenant.bot(null);
    const { parse_errors } = await deploy(bot, `tools g mcp "${mcp.url}"\n  histroy none`);
    expect(parse_errors).toHaveLength(1);
    expect(mcp.count('initialize')).toBe(0);
  });

  test('does not block other deploys of the bot while a server is slow', async () => {
    const bot = await tenant.bot(null);
    const received = Promise.withResolvers<() => void>();
    mcp.intercept((_request, response) => {
      received.resolve(() => response.writeHead(401).end());
      return true;
    });
    const slow = deploy(bot, 'prompt "Slow."\n  tools g mcp env.URL', {
      env_vars: { URL: mcp.url },
    });
    const answer = await received.promise;
    expect(await deploy(bot, 'prompt "Quick."')).toMatchObject({ status: 'deployed' });
    answer();
    expect((await slow).warnings).toEqual([
      `6:9 the tools of g cannot be connected: ${REFUSED} [tools-unavailable]`,
    ]);
  });

  test('connects again for a rollback and for a promotion', async () => {
    const bot = await tenant.bot(null);
    const members = 'prompt "Hi"\n  tools g mcp env.URL';
    const variables = { env_vars: { URL: mcp.url } };
    await deploy(bot, members, variables);
    const first = await deploy(bot, members, { ...variables, environment: 'staging' });
    expect(first.warnings).toEqual([]);
    refuse();
    const again = await post(`${bot}/deployments/${first.deployment_id}/rollback`, {});
    expect(again.warnings).toEqual([
      `6:9 the tools of g cannot be connected: ${REFUSED} [tools-unavailable]`,
    ]);
    const { data } = await tenant.graphql(
      `mutation ($botId: ID!, $deploymentId: ID!) {
        promote(botId: $botId, deploymentId: $deploymentId) { diagnostics { code line } }
      }`,
      { botId: bot, deploymentId: first.deployment_id },
    );
    expect(data.promote.diagnostics).toEqual([{ code: 'tools-unavailable', line: 6 }]);
  });
});

test('a probe of servers that never respond ends at its time limit, for all servers at the same time', async () => {
  const egress = createEgress({ allowedHosts: [mcp.host] });
  const servers = createMcpServers({ egress, limits: { connect: 50 } });
  const group = (name: string): McpGroup => ({
    type: 'mcp',
    name,
    url: mcp.url,
    headers: [],
    approvals: [],
    reads: [],
    repeatable: [],
    labels: [],
  });
  mcp.intercept(() => true);
  const reports = await createToolProbe({ servers })([group('a'), group('b')], {});
  const problem = 'The server did not answer in time.';
  expect(reports).toEqual([
    { group: 'a', problem },
    { group: 'b', problem },
  ]);
  await servers.close();
  await egress.close();
});
