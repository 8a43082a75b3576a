import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat, settled } from '../helpers/approvals.ts';
import { type McpSite, startMcp, textResult, tool } from '../helpers/mcp.ts';

let mcp: McpSite;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  mcp = await startMcp();
  app = await startApp({ allowedHosts: [mcp.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  mcp.calls.length = 0;
  mcp.requests.length = 0;
  mcp.intercept(undefined);
  mcp.handle(({ name }) => textResult(`${name} was called.`));
});
afterAll(() => mcp.close());

const bot = (approval: string) => tenant.bot(`tools github mcp "${mcp.url}" { ${approval} }`);

/** Sends a message to one process. @returns the results of the tools that its model requested. */
const chat = async (at: TestApp, botId: string, ...calls: [name: string, input: unknown][]) => {
  requestAndRepeat(at, ...calls);
  const response = await fetch(`${at.url}/v1/bots/${botId}/chat`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', 'x-session-id': 'ada' },
    body: JSON.stringify({ message: 'Go.' }),
  });
  return (await response.json()).response.split('\n');
};

const WAITS = expect.stringMatching(/^This call waits for approval by a person\./);
const called = () => mcp.calls.map(({ name, input }) => [name, input]);

describe('an approval of named tools', () => {
  test('lets only these wait, and sends the approved call with its key', async () => {
    mcp.offer([tool('find', 'query'), tool('create_issue', 'title')]);
    const botId = await bot('approval create_issue "It is public."');
    const results = await chat(
      app,
      botId,
      ['github_find', { query: 'x' }],
      ['github_create_issue', { title: 'Broken' }],
    );
    expect(results).toEqual(['find was called.', WAITS]);
    expect(called()).toEqual([['find', { query: 'x' }]]);
    const { id, ...approval } = await approvalOf(app, botId);
    expect(approval).toMatchObject({
      name: 'github.create_issue',
      reason: 'It is public.',
      arguments: '{"title":"Broken"}',
      request: null,
    });
    mcp.requests.length = 0;
    expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
    const { toolCall, followUp } = await settled(app, id);
    expect(toolCall).toMatchObject({ status: 'COMPLETED', result: 'create_issue was called.' });
    expect(followUp?.response).toContain('Its result: create_issue was called.');
    expect(called()).toEqual([
      ['find', { query: 'x' }],
      ['create_issue', { title: 'Broken' }],
    ]);
    const sent = mcp.requests.filter(({ rpc }) => rpc === 'tools/call');
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual([id]);
  });
});

describe('an approval of all tools', () => {
  test('covers a tool that the server adds later', async () => {
    mcp.offer([tool('find')]);
    const botId = await bot('approval all');
    expect(await chat(app, botId, ['github_find', {}])).toEqual([WAITS]);
    mcp.offer([tool('find'), tool('merge')]);
    // Another process lists the tools anew.
    const later = await startApp({ allowedHosts: [mcp.host] });
    expect(await chat(later, botId, ['github_merge', {}])).toEqual([WAITS]);
    await later.close();
    expect(mcp.calls).toEqual([]);
    const names = await app.prisma.approval.findMany({ where: { botId }, select: { name: true } });
    expect(names.map(({ name }) => name).sort()).toEqual(['github.find', 'github.merge']);
  });
});

test('a call is bound to the headers of its group: without the value of a variable it cannot be approved', async () => {
  mcp.offer([tool('merge')]);
  const botId = await tenant.bot(null);
  const source = agent(
    `tools github mcp "${mcp.url}" { header "Authorization" "Bearer {{env.TOKEN}}" approval all }`,
  );
  const envVars = [{ name: 'TOKEN', value: 'first-token' }];
  const { errors } = await tenant.graphql(
    `mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }`,
    { botId, input: { source, envVars } },
  );
  expect(errors).toBeUndefined();
  expect(await chat(app, botId, ['github_merge', {}])).toEqual([WAITS]);
  const { id, deploymentId } = await approvalOf(app, botId);
  await app.prisma.deployment.update({ where: { id: deploymentId }, data: { envVars: null } });
  // This process has not read the deployment before.
  const other = await startApp({ allowedHosts: [mcp.host] });
  expect(await decide(other, tenant, id, 'APPROVE')).toMatchObject({ code: 'TOOL_GONE' });
  await other.close();
  expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
  await settled(app, id);
  const sent = mcp.requests.filter(({ rpc }) => rpc === 'tools/call');
  expect(sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer first-token']);
});

/** Lets the server answer the next call as one that does not know the session. */
const endSession = () => {
  let isEnded = false;
  mcp.intercept(({ rpc }, response) => {
    if (isEnded || rpc !== 'tools/call') return false;
    isEnded = true;
    response.writeHead(404).end();
    return true;
  });
};

test('a call has the same key in the session that replaces one of which its server knows nothing', async () => {
  mcp.offer([tool('create_issue', 'title'), tool('merge')]);
  const botId = await bot('approval merge');
  const keys = () =>
    mcp.requests
      .filter(({ rpc }) => rpc === 'tools/call')
      .map(({ headers }) => [headers['mcp-session-id'], headers['idempotency-key']]);
  expect(await chat(app, botId, ['github_merge', {}])).toEqual([WAITS]);
  endSession();
  const created = ['create_issue was called.'];
  expect(await chat(app, botId, ['github_create_issue', { title: 'Broken' }])).toEqual(created);
  const { id: createId } = await app.prisma.toolCall.findFirstOrThrow({
    where: { name: 'github.create_issue', run: { botId } },
  });
  const sessions = keys().map(([session]) => session);
  expect(keys()).toEqual(sessions.map((session) => [session, createId]));
  expect([sessions.length, new Set(sessions).size]).toEqual([2, 2]);

  endSession();
  mcp.requests.length = 0;
  const { id } = await approvalOf(app, botId);
  expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
  expect((await settled(app, id)).toolCall).toMatchObject({ status: 'COMPLETED' });
  expect(keys().map(([, key]) => key)).toEqual([id, id]);
  expect(called()).toEqual([
    ['create_issue', { title: 'Broken' }],
    ['merge', {}],
  ]);
});

describe('a tool that its server renames while a call waits', () => {
  const ask = async () => {
    mcp.offer([tool('merge')]);
    const botId = await bot('approval all');
    expect(await chat(app, botId, ['github_merge', {}])).toEqual([WAITS]);
    mcp.offer([tool('merge_now')]);
    return (await approvalOf(app, botId)).id;
  };

  test('cannot be approved, and can be denied', async () => {
    const id = await ask();
    // Another process lists the tools anew.
    const deciding = await startApp({ allowedHosts: [mcp.host] });
    expect(await decide(deciding, tenant, id, 'APPROVE')).toEqual({
      code: 'TOOL_GONE',
      message: 'There is no tool "github.merge" any more.',
    });
    expect(await decide(deciding, tenant, id, 'DENY')).toBeUndefined();
    await deciding.close();
    await settled(app, id);
    expect(mcp.calls).toEqual([]);
  });

  test('is refused if the server has not announced the change, and the user learns it', async () => {
    const id = await ask();
    mcp.handle(({ name }) => {
      throw new Error(`Unknown tool: ${name}`);
    });
    expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
    const { toolCall, followUp } = await settled(app, id);
    expect(toolCall).toMatchObject({
      status: 'FAILED',
      result: expect.stringContaining('Unknown tool: merge'),
    });
    expect(followUp?.response).toContain('It failed: Error: ');
    expect(called()).toEqual([['merge', {}]]);
  });
});

test('a tool that its server renames between the listing and the call is refused under both names', async () => {
  mcp.offer([tool('find'), tool('merge')]);
  const botId = await bot('approval merge');
  expect(await chat(app, botId, ['github_find', {}])).toEqual(['find was called.']);
  // The server does not announce the change, so that the next run uses the same listing.
  mcp.offer([tool('search'), tool('merge')]);
  mcp.handle(({ name }) => {
    throw new Error(`Unknown tool: ${name}`);
  });
  expect(await chat(app, botId, ['github_find', {}], ['github_search', {}])).toEqual([
    expect.stringMatching(/^Error: .*Unknown tool: find/),
    'Error: There is no tool "github_search".',
  ]);
  expect(called()).toEqual([
    ['find', {}],
    ['find', {}],
  ]);
});
