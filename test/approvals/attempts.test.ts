import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat, settled } from '../helpers/approvals.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let first: TestApp;

beforeAll(async () => {
  site = await startSite();
});
beforeEach(async () => {
  first = await startApp({ allowedHosts: [site.host] });
  site.requests.length = 0;
});
afterAll(() => site.close());

/** Scripts a model that requests a refund and is silent after its result, and that answers a notice of the server. */
const requestUntilSilent = ({ upstream }: TestApp, silence: Promise<void>) =>
  upstream.script(async ({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.content.includes('Notice of the server')) {
      say('Told.');
      return end();
    }
    if (last?.role === 'tool') return silence;
    return call(['orders_refund', {}]);
  });

/** Begins a background run in the first process. @returns its id. */
const execute = async (tenant: Tenant, bot: string): Promise<string> => {
  const response = await fetch(`${first.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Refund it.', background: true }),
  });
  return (await response.json()).run_id;
};

describe('a background run that is taken up again after its call was settled', () => {
  /** Settles the call of a run while its model is silent, and lets another process take the run up again. */
  const resultAfter = async (settle: (id: string, key: string) => Promise<unknown>) => {
    const tenant = await first.tenant();
    const bot = await tenant.bot(`tools orders {
      capability refund "Refunds an order." { approval post "${site.origin}/refunds" }
    }`);
    const silent = Promise.withResolvers<void>();
    requestUntilSilent(first, silent.promise);
    const runId = await execute(tenant, bot);
    const waiting = () => first.prisma.approval.count({ where: { runId } });
    await expect.poll(waiting).toBe(1);
    const { id } = await approvalOf(first, bot);
    await settle(id, tenant.apiKey);
    await settled(first, id);
    await first.close(0);
    silent.resolve();

    const second = await startApp({ allowedHosts: [site.host] });
    requestAndRepeat(second, ['orders_refund', {}]);
    const read = () => second.prisma.run.findUniqueOrThrow({ where: { id: runId } });
    await expect.poll(async () => (await read()).status).toBe('COMPLETED');
    expect(site.requests).toEqual([]);
    expect(await second.prisma.toolCall.count({ where: { runId } })).toBe(1);
    return (await read()).response;
  };

  test('learns that a person denied the call, and that it has not happened', async () => {
    const response = await resultAfter((id, apiKey) => decide(first, { apiKey }, id, 'DENY'));
    expect(response).toBe(
      'A person denied this call. It has not happened. Tell the user, and do not call it again.',
    );
  });

  test('learns that nobody decided in time, and that the call has not happened', async () => {
    const response = await resultAfter((id) =>
      first.prisma.approval.update({ where: { id }, data: { expiresAt: new Date(0) } }),
    );
    expect(response).toBe(
      'Nobody approved this call in time. It has not happened. Tell the user, and do not call it again.',
    );
  });
});

describe('an approved call whose process ends before the service answers', () => {
  /** Approves a call, ends the process that sends it, and lets another process take the work. */
  const outcomeAfter = async (mark: string) => {
    const tenant = await first.tenant();
    const bot = await tenant.bot(`tools orders {
      capability refund "Refunds an order." { ${mark} approval post "${site.origin}/refunds" }
    }`);
    requestAndRepeat(first, ['orders_refund', {}]);
    await (await tenant.chat(bot, { message: 'Refund it.' }, { 'x-session-id': 'ada' })).text();
    const { id } = await approvalOf(first, bot);
    site.handle(() => {});
    await decide(first, tenant, id, 'APPROVE');
    await expect.poll(() => site.requests.length).toBe(1);
    site.handle((_request, response) => response.end('Refunded.'));
    const second = await startApp({ allowedHosts: [site.host] });
    requestAndRepeat(second, ['orders_refund', {}]);
    await first.close(0);
    // The next attempt follows after a pause.
    await second.prisma.approval.update({ where: { id }, data: { availableAt: new Date() } });
    const { toolCall, followUp } = await settled(second, id);
    return {
      ...{ id, status: toolCall.status, told: followUp?.response },
      keys: site.requests.map(({ headers }) => headers['idempotency-key']),
    };
  };

  test('is not sent again, and the user learns that its outcome is unknown', async () => {
    const { id, status, told, keys } = await outcomeAfter('');
    expect(keys).toEqual([id]);
    expect(status).toBe('UNKNOWN');
    expect(told).toContain('Its outcome is unknown. Do not repeat it.');
  });

  test('is sent again with the same key if the capability is repeatable', async () => {
    const { id, status, told, keys } = await outcomeAfter('repeatable');
    expect(keys).toEqual([id, id]);
    expect(status).toBe('COMPLETED');
    expect(told).toContain('Its result: Refunded.');
  });
});

test('a run that is taken up again leaves an approved call in progress to the process that sends it', async () => {
  const tenant = await first.tenant();
  const bot = await tenant.bot(`tools orders {
    capability refund "Refunds an order." { repeatable approval post "${site.origin}/refunds" }
  }`);
  const silent = Promise.withResolvers<void>();
  requestUntilSilent(first, silent.promise);
  const runId = await execute(tenant, bot);
  await expect.poll(() => first.prisma.approval.count({ where: { runId } })).toBe(1);
  const { id } = await approvalOf(first, bot);
  site.handle(() => {});
  await decide(first, tenant, id, 'APPROVE');
  await expect.poll(() => site.requests.length).toBe(1);
  site.handle((_request, response) => response.end('Refunded.'));
  await first.close(0);
  silent.resolve();
  const { approval, run } = first.prisma;
  const oneHour = new Date(Date.now() + 3_600_000);
  await approval.update({ where: { id }, data: { availableAt: oneHour } });

  const second = await startApp({ allowedHosts: [site.host] });
  requestAndRepeat(second, ['orders_refund', {}]);
  const read = () => run.findUniqueOrThrow({ where: { id: runId } });
  await expect.poll(async () => (await read()).status).toBe('COMPLETED');
  expect((await read()).response).toBe('The outcome of this call is unknown. Do not repeat it.');
  expect(site.requests).toHaveLength(1);
  await approval.update({ where: { id }, data: { availableAt: new Date() } });
  expect((await settled(second, id)).toolCall.status).toBe('COMPLETED');
  const keys = site.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([id, id]);
});
