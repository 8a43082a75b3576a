import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
  errorOf,
  refundTools,
  requestRefund,
  settled,
  waitingCall,
} from './refund-desk.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let id: string;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  app.upstream.script(requestRefund());
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  const bot = await tenant.bot(refundTools(site));
  await askForRefund(tenant, bot);
  id = await waitingCall(app, bot);
});
afterAll(() => site.close());

test('equal decisions at once return the same, and the call is sent once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => decide(tenant, id, 'APPROVE', { note: 'By phone.' })),
  );
  const [first] = answers;
  expect(first?.data.decideApproval).toMatchObject({ status: 'APPROVED', note: 'By phone.' });
  for (const answer of answers) expect(answer).toEqual(first);
  await settled(app, id);
  expect(site.requests).toHaveLength(1);
  expect(await decide(tenant, id, 'APPROVE')).toEqual(first);
});

test.each([
  ['APPROVE', 'DENY', 'approved'],
  ['DENY', 'APPROVE', 'denied'],
] as const)(
  'after %s, another decision is refused with the first one and its time',
  async (made, other, how) => {
    const { data } = await decide(tenant, id, made);
    const { decidedAt } = data.decideApproval;
    expect(decidedAt).toMatch(/^\d{4}-.*Z$/);
    expect(errorOf(await decide(tenant, id, other))).toEqual({
      code: 'ALREADY_DECIDED',
      message: `The call was ${how} at ${decidedAt}.`,
    });
    await settled(app, id);
  },
);

test('equal arguments in another order are the same decision, and other arguments are another one', async () => {
  const edited = { order_id: 'A-1', amount: 2 };
  const first = await decide(tenant, id, 'APPROVE', { arguments: edited });
  const reordered = { amount: 2, order_id: 'A-1' };
  expect(await decide(tenant, id, 'APPROVE', { arguments: reordered })).toEqual(first);
  const different = { ...edited, amount: 3 };
  const refused = await decide(tenant, id, 'APPROVE', { arguments: different });
  expect(errorOf(refused)?.code).toBe('ALREADY_DECIDED');
  await settled(app, id);
  expect(site.requests.map(({ body }) => JSON.parse(body))).toEqual([edited]);
});
