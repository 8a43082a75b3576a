import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeCalls } from '../../../src/runs/tool-calls/tool-call.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeApproval } from '../../helpers/approvals.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { hello } from '../../helpers/upstream.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
});
afterAll(() => site.close());

test('the end of a run leaves a call that waits for a person as it is', async () => {
  app.upstream.script(hello);
  const bot = await tenant.bot();
  const { run_id: runId } = await (await tenant.chat(bot, { message: 'Hi' })).json();
  const { deploymentId } = await app.prisma.run.findUniqueOrThrow({ where: { id: runId } });
  const id = await makeApproval(app, bot, runId, deploymentId ?? '');
  await app.prisma.toolCall.update({ where: { id }, data: { status: 'WAITING' } });
  // The answer to the question was lost, so the run ends with a record without an outcome.
  const lost = { id, position: 0, callId: 'call_1', name: 'shop.refund', digest: id };
  const calls = JSON.stringify([{ ...lost, status: 'FAILED', startedAt: 0, finishedAt: 1 }]);
  await app.prisma.$executeRawUnsafe(
    `WITH ended AS (SELECT $1::text AS key, $2::jsonb AS calls) ${storeCalls('ended', 'calls')}`,
    runId,
    calls,
  );
  const call = await app.prisma.toolCall.findUniqueOrThrow({ where: { id } });
  expect(call).toMatchObject({ status: 'WAITING', finishedAt: null });
});

test('a call that could not be stored before it waits is a failed one of its run', async () => {
  const bot = await tenant.bot(`tools orders {
    capability refund "Refunds an order." { approval post "${site.origin}/refunds" }
  }`);
  app.upstream.script(({ call }) => call(['orders_refund', {}]));
  await app.prisma.$executeRawUnsafe(`CREATE FUNCTION refuse_approvals() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'No more approvals.'; END $$`);
  await app.prisma.$executeRawUnsafe(
    'CREATE TRIGGER refuse_approvals BEFORE INSERT ON approvals EXECUTE FUNCTION refuse_approvals()',
  );
  try {
    expect((await tenant.chat(bot, { message: 'Go.' })).status).toBe(500);
  } finally {
    await app.prisma.$executeRawUnsafe('DROP FUNCTION refuse_approvals CASCADE');
  }
  const calls = await app.prisma.toolCall.findMany({ where: { run: { botId: bot } } });
  expect(calls).toMatchObject([
    { status: 'FAILED', result: 'Error: The call could not be recorded, so it was not sent.' },
  ]);
  expect(site.requests).toEqual([]);
});
