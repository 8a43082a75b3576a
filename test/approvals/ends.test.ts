import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat, settled } from '../helpers/approvals.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let operator: string;
let tenant: Tenant;
let bot: string;

const REFUND = () => `tools orders {
    capability refund "Refunds an order." { approval post "${site.origin}/refunds" }
  }`;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  operator = await (await app.tenant()).key({ scopes: Object.values(KeyScope) });
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  requestAndRepeat(app, ['orders_refund', {}]);
  bot = await tenant.bot(REFUND());
});
afterAll(() => site.close());

/** Lets the model ask for a refund. @returns the id of the call. */
const ask = async (by = tenant, botId = bot) => {
  await (await by.chat(botId, { message: 'Refund it.' }, { 'x-session-id': 'ada' })).text();
  return (await approvalOf(app, botId)).id;
};

const operate = async (name: 'suspendAccount' | 'resumeAccount') => {
  const { errors } = await app.graphql(
    operator,
    `mutation ($id: ID!) { ${name}(id: $id) { id } }`,
    {
      id: tenant.accountId,
    },
  );
  expect(errors).toBeUndefined();
};

/** Stores an approval beside the server, which finds it later. */
const approve = (id: string) =>
  app.prisma.approval.update({
    where: { id },
    data: { status: 'APPROVED', decidedAt: new Date() },
  });

describe('a deployment without the tool', () => {
  test('refuses the approval with a clear message, and a denial tells the user', async () => {
    const id = await ask();
    await tenant.graphql(
      'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { status } }',
      {
        bot,
        source: agent('tools orders { capability find "Finds." { get "https://shop.example" } }'),
      },
    );
    expect(await decide(app, tenant, id, 'APPROVE')).toEqual({
      code: 'TOOL_GONE',
      message:
        'The active deployment of the bot has no tool "orders.refund" any more. The call can only be denied.',
    });
    expect(await approvalOf(app, bot)).toMatchObject({ status: 'WAITING', decidedAt: null });
    expect(await decide(app, tenant, id, 'DENY', { note: 'No longer offered.' })).toBeUndefined();
    expect((await settled(app, id)).followUp?.response).toContain(
      'was denied by a person: No longer offered. It has not happened.',
    );
    expect(site.requests).toEqual([]);
  });
});

describe('a bot that is deleted', () => {
  const remove = () => tenant.graphql('mutation ($bot: ID!) { deleteBot(id: $bot) }', { bot });

  test('takes its waiting calls with it: nobody can decide, and nothing is sent', async () => {
    const id = await ask();
    expect((await remove()).errors).toBeUndefined();
    expect(await decide(app, tenant, id, 'APPROVE')).toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect(await app.prisma.approval.count({ where: { id } })).toBe(0);
    expect(site.requests).toEqual([]);
  });

  test('ends the work that follows a decision', async () => {
    const id = await ask();
    const answer = Promise.withResolvers<void>();
    site.handle(async (_request, response) => {
      await answer.promise;
      response.end('Refunded.');
    });
    await decide(app, tenant, id, 'APPROVE');
    await expect.poll(() => site.requests.length).toBe(1);
    expect((await remove()).errors).toBeUndefined();
    answer.resolve();
    // The work of another bot's approval ends later.
    const other = await tenant.bot(REFUND());
    const later = await ask(tenant, other);
    await decide(app, tenant, later, 'APPROVE');
    await settled(app, later);
    expect(site.requests).toHaveLength(2);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
    expect(await app.prisma.toolCall.count({ where: { id } })).toBe(0);
  });
});

describe('an account that is suspended', () => {
  test('cannot decide, and its waiting calls are there again after it is resumed', async () => {
    const id = await ask();
    await operate('suspendAccount');
    expect(await decide(app, tenant, id, 'APPROVE')).toMatchObject({ code: 'INVALID_API_KEY' });
    expect(await approvalOf(app, bot)).toMatchObject({ status: 'WAITING' });
    expect(site.requests).toEqual([]);
    await operate('resumeAccount');
    // The keys work again within a second. The same decision again is no error.
    await expect.poll(() => decide(app, tenant, id, 'APPROVE')).toBeUndefined();
    await settled(app, id);
    expect(site.requests).toHaveLength(1);
  });

  test('has no approved call sent until it is resumed', async () => {
    const id = await ask();
    await operate('suspendAccount');
    await approve(id);
    // The server takes approvals in the order of their decisions, so it skips this one.
    const other = await app.tenant();
    const later = await ask(other, await other.bot(REFUND()));
    await decide(app, other, later, 'APPROVE');
    await settled(app, later);
    const keys = () => site.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys()).toEqual([later]);
    await operate('resumeAccount');
    const { toolCall, followUp } = await settled(app, id);
    expect(toolCall.status).toBe('COMPLETED');
    expect(followUp?.response).toContain('Its result: Refunded.');
    expect(keys()).toEqual([later, id]);
  });
});
