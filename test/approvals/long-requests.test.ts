import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
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
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot(refundTools(site));
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
});
afterAll(() => site.close());

const MAX_BODY = 48 * 1024;

const shown = async (id: string) => {
  const { data, errors } = await tenant.graphql(
    `{ approval(id: "${id}") { arguments request { body } call { request { body } } } }`,
  );
  expect(errors).toBeUndefined();
  return data.approval;
};

test('a body of more than 48 Ki characters is shown cut and says so, and is sent whole', async () => {
  const input = { order_id: 'x'.repeat(60_000), amount: 5 };
  const whole = JSON.stringify(input);
  app.upstream.script(requestRefund(input));
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  const approval = await shown(id);
  const note = `… [the beginning of a body of ${whole.length} characters]`;
  expect(approval.arguments).toEqual(input);
  expect(approval.request.body).toHaveLength(MAX_BODY);
  expect(approval.request.body).toBe(whole.slice(0, MAX_BODY - note.length) + note);
  expect(approval.call.request).toEqual(approval.request);
  const rest = await fetch(`${app.url}/v1/bots/${bot}/approvals/${id}`, {
    headers: tenant.headers,
  });
  expect((await rest.json()).request.body).toBe(approval.request.body);
  await decide(tenant, id, 'APPROVE');
  await settled(app, id);
  expect(site.requests.map(({ body }) => body)).toEqual([whole]);
});

test('a body of 48 Ki characters is shown whole', async () => {
  const empty = JSON.stringify({ order_id: '', amount: 5 }).length;
  const input = { order_id: 'x'.repeat(MAX_BODY - empty), amount: 5 };
  app.upstream.script(requestRefund(input));
  await askForRefund(tenant, bot);
  const { request } = await shown(await waitingCall(app, bot));
  expect(request.body).toBe(JSON.stringify(input));
});

test('a call with arguments of more than 64 KiB cannot wait', async () => {
  app.upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'user')
      return call(['orders_refund', { order_id: 'x'.repeat(66_000), amount: 5 }]);
    say(`${last?.content}`);
    return end();
  });
  const { response } = await (await tenant.chat(bot, { message: 'Refund it.' })).json();
  expect(response).toBe('Error: The arguments are larger than 64 KiB.');
  expect(await app.prisma.approval.count({ where: { botId: bot } })).toBe(0);
});

test('edited arguments of more than 64 KiB are refused', async () => {
  app.upstream.script(requestRefund());
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  const edited = { order_id: 'x'.repeat(66_000), amount: 5 };
  const { errors } = await decide(tenant, id, 'APPROVE', { arguments: edited });
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'INVALID_REQUEST',
    details: [{ message: expect.stringContaining('64 KiB') }],
  });
  expect(await waitingCall(app, bot)).toBe(id);
});
