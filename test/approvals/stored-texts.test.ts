import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { firstIdAt } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
  refundTools,
  requestRefund,
  settled,
  sweepUntil,
  waitingCall,
} from './refund-desk.ts';

let site: Site;
/** The only app of a test: any app on the database may do the work after a decision, and keeps texts as it is set. */
let app: TestApp;
let tenant: Tenant;

const log = { warn: () => {}, error: () => expect.unreachable() };

beforeAll(async () => {
  site = await startSite();
});
beforeEach(() => {
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
});
afterAll(() => site.close());

/** Starts the app of a test, which keeps the texts of calls for some days. */
const open = async (toolCallDays?: number) => {
  app = await startApp({ allowedHosts: [site.host], toolCallDays });
  app.upstream.script(requestRefund());
  tenant = await app.tenant();
};

const stored = async (id: string) => {
  const { toolCall, ...approval } = await app.prisma.approval.findUniqueOrThrow({
    where: { id },
    include: { toolCall: true },
  });
  return { approval, toolCall };
};

const textsOf = async (id: string) => {
  const { approval, toolCall } = await stored(id);
  return [
    ...[approval.arguments, approval.editedArguments, approval.request],
    ...[toolCall.arguments, toolCall.request, toolCall.result],
  ];
};

/** Lets the sweep of texts run until a call has none. */
const sweep = async (id: string, toolCallDays: number) => {
  const arguments_ = async () => (await stored(id)).toolCall.arguments;
  await sweepUntil({ prisma: app.prisma, log, toolCallDays }, arguments_, null);
};

test('a call that waits keeps what it needs, although no texts are stored, until the user knows the outcome', async () => {
  await open(0);
  const bot = await tenant.bot(refundTools(site));
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  const { approval, toolCall } = await stored(id);
  expect([approval.arguments, toolCall.arguments]).toEqual([
    '{"order_id":"A-1","amount":5}',
    '{"order_id":"A-1","amount":5}',
  ]);
  expect(approval.request).toMatchObject({ url: `${site.origin}/refunds` });
  await decide(tenant, id, 'APPROVE', { arguments: { order_id: 'A-1', amount: 2 } });
  const told = await settled(app, id);
  const run = await app.prisma.run.findUniqueOrThrow({ where: { id: told } });
  expect(run.response).toContain('Its result: Refunded.');
  expect(site.requests.map(({ body }) => body)).toEqual(['{"order_id":"A-1","amount":2}']);
  expect((await stored(id)).toolCall.result).toBeNull();

  await sweep(id, 0);
  expect(await textsOf(id)).toEqual([null, null, null, null, null, null]);
  const after = await stored(id);
  expect(after.approval).toMatchObject({ status: 'APPROVED', name: 'orders.refund', values: {} });
  expect(after.toolCall).toMatchObject({
    status: 'COMPLETED',
    httpStatus: 200,
    idempotencyKey: id,
  });
  const { data } = await tenant.graphql(
    '{ approval(id: $id) { status arguments editedArguments request { url } call { status result } } }'.replace(
      '$id',
      `"${id}"`,
    ),
  );
  expect(data.approval).toEqual({
    ...{ status: 'APPROVED', arguments: null, editedArguments: null, request: null },
    call: { status: 'COMPLETED', result: null },
  });
});

test('the sweep leaves a call that waits as it is, whatever its age is', async () => {
  await open(0);
  const bot = await tenant.bot(refundTools(site));
  await askForRefund(tenant, bot, 'ada');
  const waits = await waitingCall(app, bot);
  await decide(tenant, waits, 'DENY');
  await settled(app, waits);
  await askForRefund(tenant, bot, 'bob');
  const id = await waitingCall(app, bot);
  await sweep(waits, 0);
  expect((await stored(id)).approval.arguments).toBe('{"order_id":"A-1","amount":5}');
  await decide(tenant, id, 'APPROVE');
  await settled(app, id);
  expect(site.requests).toHaveLength(1);
});

test('the texts of calls that needed no approval are gone after the days, and their rows remain', async () => {
  await open();
  const bot = await tenant.bot(refundTools(site));
  app.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.at(-1)?.role === 'user')
      return call(['orders_lookup', { order_id: 'A-1' }], ['orders_note', { text: 'Found.' }]);
    say('Done.');
    return end();
  });
  const { run_id: runId } = await (await tenant.chat(bot, { message: 'Find A-1.' })).json();
  const select = { id: true, status: true, name: true, arguments: true, result: true } as const;
  const read = () =>
    app.prisma.toolCall.findMany({ where: { runId }, select, orderBy: { position: 'asc' } });
  const [lookup, note] = await read();
  expect([lookup?.result, note?.result]).toEqual(['Refunded.', 'Refunded.']);
  // The first one is older than 30 days by its id.
  const old = firstIdAt('tcl', Date.now() - 31 * 24 * 60 * 60 * 1_000).slice(0, -8);
  const id = `${old}${lookup?.id.slice(-8)}`;
  await app.prisma.toolCall.update({ where: { id: lookup?.id ?? '' }, data: { id } });
  const arguments_ = async () => (await read())[0]?.arguments;
  await sweepUntil({ prisma: app.prisma, log }, arguments_, null);
  expect(await read()).toEqual([
    { id, status: 'COMPLETED', name: 'orders.lookup', arguments: null, result: null },
    note,
  ]);
});
