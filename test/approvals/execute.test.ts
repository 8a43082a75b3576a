import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat, settled } from '../helpers/approvals.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  bot = await tenant.bot(`tools orders {
    capability refund "Refunds an order." { approval post "${site.origin}/refunds" }
  }`);
  requestAndRepeat(app, ['orders_refund', {}]);
});
afterAll(() => site.close());

const execute = async (more: object = {}): Promise<string> => {
  const response = await fetch(`${app.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Refund A-1.', ...more }),
  });
  return (await response.json()).run_id;
};

const callsOf = async (run: string) => {
  const query = `query ($run: ID!) { run(id: $run) {
    toolCalls { name status result httpStatus idempotencyKey finishedAt } } }`;
  const { data, errors } = await tenant.graphql(query, { run });
  expect(errors).toBeUndefined();
  return data.run.toolCalls;
};

const runs = () =>
  app.prisma.run.findMany({ where: { botId: bot }, orderBy: { createdAt: 'asc' } });

describe('an execution whose call waits', () => {
  test('has the result of the approved call at its own record, and no run follows', async () => {
    const run = await execute();
    expect(await callsOf(run)).toMatchObject([{ status: 'WAITING', result: null }]);
    const { id } = await approvalOf(app, bot);
    await decide(app, tenant, id, 'APPROVE', { note: 'By phone.' });
    const { approval, followUp } = await settled(app, id);
    expect(followUp).toBeNull();
    expect(approval).toMatchObject({ status: 'APPROVED', note: 'By phone.', runId: run });
    expect(await callsOf(run)).toEqual([
      {
        name: 'orders.refund',
        status: 'COMPLETED',
        result: 'Refunded.',
        httpStatus: 200,
        idempotencyKey: id,
        finishedAt: expect.any(String),
      },
    ]);
    expect((await runs()).map((one) => one.id)).toEqual([run]);
    expect(site.requests).toHaveLength(1);
  });

  test('has the denial at its own record, and no run follows', async () => {
    const run = await execute();
    const { id } = await approvalOf(app, bot);
    await decide(app, tenant, id, 'DENY');
    expect((await settled(app, id)).followUp).toBeNull();
    expect(await callsOf(run)).toMatchObject([
      { status: 'DENIED', result: null, finishedAt: expect.any(String) },
    ]);
    expect(await runs()).toHaveLength(1);
    expect(site.requests).toEqual([]);
  });

  test.each([
    ['APPROVE', /was approved by a person\. Its result: Refunded\./],
    ['DENY', /was denied by a person\. It has not happened\./],
  ] as const)(
    'in the background causes one execution with the outcome: %s',
    async (decision, outcome) => {
      const run = await execute({ background: true, metadata: { order: 'A-1' } });
      await expect.poll(() => app.prisma.approval.count({ where: { runId: run } })).toBe(1);
      const { id } = await approvalOf(app, bot);
      await decide(app, tenant, id, decision);
      const { followUp } = await settled(app, id);
      const ended = () => app.prisma.run.findUnique({ where: { id: followUp?.id ?? '' } });
      await expect.poll(async () => (await ended())?.status).toBe('COMPLETED');
      expect(await ended()).toMatchObject({
        kind: 'EXECUTE',
        causedById: run,
        sessionId: null,
        metadata: { order: 'A-1' },
        response: expect.stringMatching(outcome),
      });
      const { data } = await tenant.graphql(
        'query ($run: ID!) { run(id: $run) { kind trigger causedById } }',
        { run: followUp?.id },
      );
      expect(data.run).toEqual({ kind: 'EXECUTE', trigger: 'APPROVAL', causedById: run });
      expect((await runs()).map((one) => one.id)).toEqual([run, followUp?.id]);
      expect(site.requests).toHaveLength(decision === 'APPROVE' ? 1 : 0);
    },
  );
});
