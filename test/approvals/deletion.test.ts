import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
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
let app: TestApp;
let tenant: Tenant;
let bot: string;
/** The runs of the bot that have records. */
let runs: string[];

const log = { warn: () => {}, error: () => expect.unreachable() };

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot(refundTools(site));
  const refund = requestRefund();
  app.upstream.script((exchange) => {
    const last = exchange.request.body.messages.at(-1);
    if (last?.content !== 'Find A-1.') return refund(exchange);
    return exchange.call(
      ['orders_lookup', { order_id: 'A-1' }],
      ['orders_note', { text: 'Found.' }],
    );
  });
  // A call that waits, a call that was decided, and two that needed no approval.
  const decided = await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  await app.prisma.approvalMessage.create({ data: { approvalId: id, chatId: 1n } });
  await decide(tenant, id, 'DENY');
  const told = await settled(app, id);
  const waiting = await askForRefund(tenant, bot);
  const found = await tenant.chat(bot, { message: 'Find A-1.' }, { 'x-session-id': 'ada' });
  runs = [decided, told, waiting, (await found.json()).run_id];
  expect(await left()).toEqual({ calls: 4, approvals: 2, messages: 1 });
});
afterAll(() => site.close());

/** The rows of the bot's tool calls. */
const left = async () => ({
  calls: await app.prisma.toolCall.count({ where: { runId: { in: runs } } }),
  approvals: await app.prisma.approval.count({ where: { botId: bot } }),
  messages: await app.prisma.approvalMessage.count({ where: { approval: { botId: bot } } }),
});

const NONE = { calls: 0, approvals: 0, messages: 0 };

test('the retention sweep deletes the records of tool calls with their runs', async () => {
  const kept = await askForRefund(tenant, bot, 'bob');
  const old = new Date(Date.now() - 3 * 24 * 60 * 60 * 1_000);
  await app.prisma.run.updateMany({
    where: { id: { in: runs } },
    data: { createdAt: old, finishedAt: old },
  });
  await sweepUntil({ prisma: app.prisma, log, days: 2 }, left, { ...NONE, approvals: 1 });
  expect(await app.prisma.toolCall.count({ where: { runId: kept } })).toBe(1);
});

test('forgetSession deletes the records of the conversation, and no others', async () => {
  const kept = await askForRefund(tenant, bot, 'bob');
  const { errors } = await tenant.graphql(
    `mutation { forgetSession(botId: "${bot}", sessionId: "ada") }`,
  );
  expect(errors).toBeUndefined();
  expect(await left()).toEqual({ ...NONE, approvals: 1 });
  expect(await app.prisma.toolCall.count({ where: { runId: kept } })).toBe(1);
});

test('deleteBot deletes the records of the bot', async () => {
  const { errors } = await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`);
  expect(errors).toBeUndefined();
  expect(await left()).toEqual(NONE);
});

test('deleteAccount deletes the records of all its bots', async () => {
  const other = await tenant.bot(refundTools(site));
  runs.push(await askForRefund(tenant, other));
  const operator = await (await app.tenant()).key({ scopes: Object.values(KeyScope) });
  const { errors } = await app.graphql(
    operator,
    `mutation { deleteAccount(id: "${tenant.accountId}") }`,
  );
  expect(errors).toBeUndefined();
  expect(await left()).toEqual(NONE);
  expect(await app.prisma.approval.count({ where: { botId: other } })).toBe(0);
});

test('a call of a deleted conversation cannot be decided, and nothing is sent', async () => {
  const id = await waitingCall(app, bot);
  await tenant.graphql(`mutation { forgetSession(botId: "${bot}", sessionId: "ada") }`);
  site.requests.length = 0;
  const { errors } = await decide(tenant, id, 'APPROVE');
  expect(errors?.[0]?.extensions.code).toBe('APPROVAL_NOT_FOUND');
  expect(site.requests).toEqual([]);
});
