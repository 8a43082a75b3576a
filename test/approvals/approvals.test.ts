import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { startMcp, tool } from '../helpers/mcp.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

const SHOP = (more = '', path = '/refunds') => `tools orders {
    capability refund "Refunds an order." {
      input { order_id string  amount number }
      approval "A refund is paid out at once." ${more}
      post "${site.origin}${path}"
    }
  }`;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  bot = await tenant.bot(SHOP());
  answerNotices();
});
afterAll(() => site.close());

/** Scripts a model that requests a refund, tells the user about the wait, and repeats the outcome of a notice. */
function answerNotices(input: unknown = { order_id: 'A-1', amount: 5 }): void {
  app.upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'tool') {
      say(`I asked: ${last.content}`);
      return end();
    }
    if (last?.content.includes('Notice of the server')) {
      say(`Outcome: ${last.content}`);
      return end();
    }
    return call(['orders_refund', input]);
  });
}

const ask = async (headers: Record<string, string> = { 'X-Session-ID': 'ada' }) => {
  const answer = await tenant.chat(bot, { message: 'Refund A-1.' }, headers);
  return answer.json();
};

const FACTS = `id name reason arguments editedArguments request { method url body } status note user runId followUpRunId
  decidedById inputSchema call { status result httpStatus idempotencyKey }`;

const list = async (status: string | null = 'WAITING') => {
  const { data, errors } = await tenant.graphql(
    `query ($bot: ID!, $status: ApprovalStatus) {
      bot(id: $bot) { approvalsWaiting approvals(status: $status) { edges { node { ${FACTS} } } } } }`,
    { bot, status },
  );
  expect(errors).toBeUndefined();
  return data.bot.approvals.edges.map(({ node }: { node: unknown }) => node);
};

const decide = (id: string, decision: 'APPROVE' | 'DENY', more: object = {}, key = tenant.apiKey) =>
  app.graphql(
    key,
    `mutation ($id: ID!, $decision: ApprovalDecision!, $note: String, $arguments: JSON) {
      decideApproval(id: $id, decision: $decision, note: $note, arguments: $arguments) { ${FACTS} } }`,
    { id, decision, ...more },
  );

const codeOf = ({ errors }: { errors?: { extensions: Record<string, unknown> }[] }) =>
  errors?.[0]?.extensions.code;

/** Waits for the run that reports the outcome to the user. */
const followUp = async (id: string) => {
  const find = () =>
    app.prisma.approval.findUniqueOrThrow({
      where: { id },
      select: { settledAt: true, followUpId: true },
    });
  await expect.poll(async () => (await find()).settledAt, { timeout: 60_000 }).not.toBeNull();
  const { followUpId } = await find();
  return app.prisma.run.findUniqueOrThrow({
    where: { id: followUpId ?? '' },
    select: {
      ...{ response: true, status: true, causedById: true, sessionId: true },
      ...{ channel: true, entrance: true },
    },
  });
};

describe('a call that needs approval', () => {
  test('is not sent, and the model tells the user', async () => {
    const { response, run_id } = await ask();
    expect(response).toBe(
      'I asked: This call waits for approval by a person. It has not happened. Tell the user, and do not call it again.',
    );
    expect(site.requests).toEqual([]);
    const [approval] = await list();
    expect(approval).toMatchObject({
      name: 'orders.refund',
      reason: 'A refund is paid out at once.',
      arguments: { order_id: 'A-1', amount: 5 },
      request: {
        method: 'POST',
        url: `${site.origin}/refunds`,
        body: '{"order_id":"A-1","amount":5}',
      },
      status: 'WAITING',
      user: 'ada',
      runId: run_id,
      inputSchema: { type: 'object' },
      call: { status: 'WAITING', result: null, idempotencyKey: null },
    });
    const { data } = await tenant.graphql(
      `query ($bot: ID!) { bot(id: $bot) {
        production: approvalsWaiting(environment: PRODUCTION)
        staging: approvalsWaiting(environment: STAGING)
        here: approvals(environment: PRODUCTION, status: WAITING) { edges { node { runId } } }
        there: approvals(environment: STAGING) { edges { node { runId } } } } }`,
      { bot },
    );
    expect(data.bot).toEqual({
      ...{ production: 1, staging: 0 },
      here: { edges: [{ node: { runId: run_id } }] },
      there: { edges: [] },
    });
  });

  test('is sent once when it is approved, and a run tells the user', async () => {
    const { run_id } = await ask();
    const [{ id }] = await list();
    const { data } = await decide(id, 'APPROVE', { note: 'By phone.' });
    expect(data.decideApproval).toMatchObject({ status: 'APPROVED', note: 'By phone.' });
    const run = await followUp(id);
    expect(run).toMatchObject({
      status: 'COMPLETED',
      causedById: run_id,
      sessionId: 'ada',
      channel: 'API',
      entrance: 'REST',
    });
    expect(run.response).toContain(
      'The call orders.refund with {"order_id":"A-1","amount":5} was approved by a person: By phone. Its result: Refunded.',
    );
    expect(
      site.requests.map(({ method, headers }) => [method, headers['idempotency-key']]),
    ).toEqual([['POST', id]]);
    const [settled] = await list('APPROVED');
    expect(settled.call).toEqual({
      status: 'COMPLETED',
      result: 'Refunded.',
      httpStatus: 200,
      idempotencyKey: id,
    });
    expect(await list()).toEqual([]);
  });

  test('is never sent when it is denied, and a run tells the user why', async () => {
    await ask();
    const [{ id }] = await list();
    await decide(id, 'DENY', { note: 'Too late.' });
    const { response } = await followUp(id);
    expect(response).toContain('was denied by a person: Too late. It has not happened.');
    expect(site.requests).toEqual([]);
    expect((await list('DENIED'))[0].call.status).toBe('DENIED');
  });

  test('expires, and a run tells the user', async () => {
    await ask();
    const [{ id }] = await list();
    await app.prisma.approval.update({ where: { id }, data: { expiresAt: new Date(0) } });
    expect(codeOf(await decide(id, 'APPROVE'))).toBe('ALREADY_DECIDED');
    const { response } = await followUp(id);
    expect(response).toContain('expired: nobody approved it in time. It has not happened.');
    expect((await list('EXPIRED'))[0].call.status).toBe('EXPIRED');
  });

  test('has the arguments of the person who approves it', async () => {
    await ask();
    const [{ id }] = await list();
    const { data } = await decide(id, 'APPROVE', { arguments: { order_id: 'A-1', amount: 2 } });
    expect(data.decideApproval).toMatchObject({
      arguments: { order_id: 'A-1', amount: 5 },
      editedArguments: { order_id: 'A-1', amount: 2 },
      request: { body: '{"order_id":"A-1","amount":2}' },
    });
    expect((await followUp(id)).response).toContain('A person changed its arguments.');
    expect(site.requests[0]?.body).toBe('{"order_id":"A-1","amount":2}');
  });
});

describe('a decision', () => {
  test('is final and idempotent, and one of two concurrent ones wins', async () => {
    await ask();
    const [{ id }] = await list();
    const both = await Promise.all([decide(id, 'APPROVE'), decide(id, 'DENY')]);
    expect(both.filter(({ errors }) => errors)).toHaveLength(1);
    const winner = both[0]?.errors ? 'DENY' : 'APPROVE';
    const other = winner === 'DENY' ? 'APPROVE' : 'DENY';
    expect((await decide(id, winner)).errors).toBeUndefined();
    expect(codeOf(await decide(id, other))).toBe('ALREADY_DECIDED');
    await followUp(id);
  });

  test('needs the scope APPROVE, and the account of the bot', async () => {
    await ask();
    const [{ id }] = await list();
    const weak = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'RUNS', 'ADMIN'] });
    expect(codeOf(await decide(id, 'APPROVE', {}, weak))).toBe('INSUFFICIENT_SCOPE');
    const other = await app.tenant();
    expect(codeOf(await decide(id, 'APPROVE', {}, other.apiKey))).toBe('APPROVAL_NOT_FOUND');
    const elsewhere = await tenant.key({ botIds: [] });
    expect(codeOf(await decide(id, 'APPROVE', {}, elsewhere))).toBe('APPROVAL_NOT_FOUND');
    expect(site.requests).toEqual([]);
  });

  test('with arguments that do not fit the declaration, or a long note, is invalid and decides nothing', async () => {
    await ask();
    const [{ id }] = await list();
    const invalid = [
      { arguments: { order_id: 'A-1', amount: 'much' } },
      { arguments: { amount: 1 } },
      { arguments: ['A-1'] },
      { note: 'x'.repeat(1024 * 1024 - 4_096) },
    ];
    for (const more of invalid)
      expect(codeOf(await decide(id, 'APPROVE', more))).toBe('INVALID_REQUEST');
    expect(codeOf(await decide(id, 'DENY', { arguments: {} }))).toBe('INVALID_REQUEST');
    expect(await list()).toHaveLength(1);
  });

  test('shows the request that other arguments would send, and sends and decides nothing', async () => {
    await ask();
    const [{ id }] = await list();
    const preview = (edited: unknown, key = tenant.apiKey) =>
      app.graphql(
        key,
        `query ($id: ID!, $edited: JSON!) {
          approvalRequest(id: $id, arguments: $edited) { method url body } }`,
        { id, edited },
      );
    const { data } = await preview({ order_id: 'A-2', amount: 3 });
    expect(data.approvalRequest).toEqual({
      method: 'POST',
      url: `${site.origin}/refunds`,
      body: '{"order_id":"A-2","amount":3}',
    });
    const invalid = await preview({ order_id: 'A-2', amount: 'much' });
    expect(codeOf(invalid)).toBe('INVALID_REQUEST');
    expect(invalid.errors?.[0]?.message).toContain('amount');
    expect(codeOf(await preview(['A-2']))).toBe('INVALID_REQUEST');
    const other = await app.tenant();
    expect(codeOf(await preview({}, other.apiKey))).toBe('APPROVAL_NOT_FOUND');
    expect(site.requests).toEqual([]);
    expect(await list()).toMatchObject([{ id, editedArguments: null }]);
  });

  test('cannot send the request to another host, whatever the arguments are', async () => {
    bot = await tenant.bot(SHOP('', '/orders/{{input.order_id}}/refund'));
    await ask();
    const [{ id }] = await list();
    const edited = { order_id: '//evil.example/x', amount: 5 };
    const { data } = await decide(id, 'APPROVE', { arguments: edited });
    const path = '/orders/%2F%2Fevil.example%2Fx/refund';
    expect(data.decideApproval.request.url).toBe(`${site.origin}${path}`);
    await followUp(id);
    expect(site.requests.map(({ url }) => url)).toEqual([path]);
  });

  test('answers why a tool server is unavailable, and can be repeated', async () => {
    const mcp = await startMcp();
    mcp.offer([tool('refund')]);
    const [asking, deciding] = [
      await startApp({ allowedHosts: [mcp.host] }),
      await startApp({ allowedHosts: [mcp.host] }),
    ];
    asking.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'user') return call(['shop_refund', {}]);
      say('I asked.');
      return end();
    });
    const shop = await asking.tenant();
    const botId = await shop.bot(`tools shop mcp "${mcp.url}" { approval all }`);
    await (await shop.chat(botId, { message: 'Refund.' }, { 'x-session-id': 'ada' })).text();
    const { id } = await asking.prisma.approval.findFirstOrThrow({ where: { botId } });
    const decision = `mutation { decideApproval(id: "${id}", decision: APPROVE) { status } }`;

    mcp.intercept((_request, response) => {
      response.writeHead(503).end();
      return true;
    });
    const refused = await deciding.graphql(shop.apiKey, decision);
    expect(codeOf(refused)).toBe('TOOL_GONE');
    expect(refused.errors?.[0]?.message).toMatch(
      /^The call cannot be made\. The tools of shop are unavailable\. /,
    );

    mcp.intercept(undefined);
    const { data } = await asking.graphql(shop.apiKey, decision);
    expect(data.decideApproval.status).toBe('APPROVED');
    await mcp.close();
  });

  test('is in the audit log', async () => {
    await ask();
    const [{ id }] = await list();
    await decide(id, 'DENY');
    await followUp(id);
    const { data } = await tenant.graphql(
      '{ viewer { account { auditLog(first: 50) { edges { node { action targetId keyId } } } } } }',
    );
    const entries = data.viewer.account.auditLog.edges
      .map(({ node }: { node: { targetId: string } }) => node)
      .filter(({ targetId }: { targetId: string }) => targetId === id);
    expect(entries).toMatchObject([
      { action: 'DENY_CALL', keyId: expect.stringMatching(/^key_/) },
      { action: 'ASK_APPROVAL', keyId: null },
    ]);
  });
});

test('REST lists, reads and decides', async () => {
  await ask();
  const url = `${app.url}/v1/bots/${bot}/approvals`;
  const { headers } = tenant;
  const { approvals, next_cursor } = await (
    await fetch(`${url}?status=waiting`, { headers })
  ).json();
  expect(next_cursor).toBeNull();
  expect(approvals).toMatchObject([{ name: 'orders.refund', status: 'waiting', user: 'ada' }]);
  const { id } = approvals[0];
  const post = (body: object) =>
    fetch(`${url}/${id}/decision`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const unknown = await post({ decision: 'perhaps' });
  expect([unknown.status, (await unknown.json()).error.code]).toEqual([400, 'invalid_request']);
  expect(await (await post({ decision: 'approve' })).json()).toMatchObject({ status: 'approved' });
  await followUp(id);
  expect(await (await fetch(`${url}/${id}`, { headers })).json()).toMatchObject({
    status: 'approved',
    follow_up_run_id: expect.stringMatching(/^run_/),
  });
  const again = await post({ decision: 'deny' });
  expect([again.status, (await again.json()).error.code]).toEqual([400, 'already_decided']);
  const missing = await fetch(`${url}/tcl_0`, { headers });
  expect([missing.status, (await missing.json()).error.code]).toEqual([404, 'approval_not_found']);
});
