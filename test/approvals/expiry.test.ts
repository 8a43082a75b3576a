import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
  errorOf,
  expire,
  refundTools,
  requestRefund,
  settled,
  waitingCall,
} from './refund-desk.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  app.upstream.script(requestRefund());
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot(refundTools(site));
});
afterAll(() => site.close());

const actionsOf = async (id: string) => {
  const { data } = await tenant.graphql(
    `{ viewer { account { auditLog(first: 50) { edges { node { action targetId keyId botId } } } } } }`,
  );
  type Entry = { action: string; targetId: string; keyId: string | null; botId: string };
  return data.viewer.account.auditLog.edges
    .map(({ node }: { node: Entry }) => node)
    .filter(({ targetId }: Entry) => targetId === id)
    .map(({ action, keyId, botId }: Entry) => [action, keyId, botId]);
};

test('a call that nobody decided is stored as expired, with its entry in the audit log', async () => {
  const runId = await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  await expire(app, id);
  await settled(app, id);
  const { data } = await tenant.graphql(
    `query ($id: ID!, $run: ID!) {
      approval(id: $id) { status decidedAt decidedById note call { status finishedAt result } }
      run(id: $run) { toolCalls { id status finishedAt } } }`,
    { id, run: runId },
  );
  const finishedAt = expect.stringMatching(/Z$/);
  expect(data).toEqual({
    approval: {
      ...{ status: 'EXPIRED', decidedAt: finishedAt, decidedById: null, note: null },
      call: { status: 'EXPIRED', finishedAt, result: null },
    },
    run: { toolCalls: [{ id, status: 'EXPIRED', finishedAt }] },
  });
  expect(await actionsOf(id)).toEqual([
    ['EXPIRE_APPROVAL', null, bot],
    ['ASK_APPROVAL', null, bot],
  ]);
  expect(site.requests).toEqual([]);
});

test('a decision on an expired call is refused with the time of the expiry', async () => {
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  await expire(app, id);
  const late = {
    code: 'ALREADY_DECIDED',
    message: 'The approval expired at 1970-01-01T00:00:00.000Z.',
  };
  expect(errorOf(await decide(tenant, id, 'DENY'))).toEqual(late);
  await settled(app, id);
  for (const decision of ['APPROVE', 'DENY'] as const)
    expect(errorOf(await decide(tenant, id, decision))).toEqual(late);
  const response = await fetch(`${app.url}/v1/bots/${bot}/approvals/${id}/decision`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'approve' }),
  });
  expect(response.status).toBe(400);
  expect((await response.json()).error).toMatchObject({
    code: 'already_decided',
    message: late.message,
  });
  expect(await actionsOf(id)).toHaveLength(2);
  expect(site.requests).toEqual([]);
});

test('the audit log names the key that approved, and the key that denied', async () => {
  const asked = async (session: string) => {
    await askForRefund(tenant, bot, session);
    return waitingCall(app, bot);
  };
  const { data: viewer } = await tenant.graphql('{ viewer { apiKey { id } } }');
  const keyId = viewer.viewer.apiKey.id;
  const approved = await asked('ada');
  const { data } = await decide(tenant, approved, 'APPROVE');
  expect(data.decideApproval.decidedById).toBe(keyId);
  const other = await tenant.key({ scopes: ['APPROVE'] });
  const otherOf = (query: string, variables?: object) => app.graphql(other, query, variables);
  const denied = await asked('bob');
  const { data: denial } = await decide({ graphql: otherOf }, denied, 'DENY');
  const otherId = denial.decideApproval.decidedById;
  expect(otherId).not.toBe(keyId);
  expect(await actionsOf(approved)).toEqual([
    ['APPROVE_CALL', keyId, bot],
    ['ASK_APPROVAL', null, bot],
  ]);
  expect(await actionsOf(denied)).toEqual([
    ['DENY_CALL', otherId, bot],
    ['ASK_APPROVAL', null, bot],
  ]);
  // A repeated decision adds no entry.
  await decide(tenant, approved, 'APPROVE');
  expect(await actionsOf(approved)).toHaveLength(2);
  await Promise.all([settled(app, approved), settled(app, denied)]);
});
