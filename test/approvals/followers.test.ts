import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
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
  site.handle((_request, response) => response.end('Refunded.'));
});
afterAll(() => site.close());

type Changed = { id: string; [field: string]: unknown };

/** Subscribes over a WebSocket, and changes something until the first event arrives. */
async function follow(field: string, fields: string, cause: () => Promise<unknown>, key?: string) {
  const events: Changed[] = [];
  const client = createClient({
    url: app.webSocketUrl,
    connectionParams: { Authorization: `Bearer ${key ?? tenant.apiKey}` },
  });
  onTestFinished(() => client.dispose());
  client.subscribe<{ changed: Changed }>(
    { query: `subscription { changed: ${field} { ${fields} } }` },
    {
      next: ({ data }) => {
        if (data) events.push(data.changed);
      },
      error: () => {},
      complete: () => {},
    },
  );
  await expect
    .poll(async () => {
      await cause();
      return events.length;
    })
    .toBeGreaterThan(0);
  return events;
}

let guests = 0;
/** A call of a conversation that no other call waits in. */
const ask = () => {
  guests += 1;
  return askForRefund(tenant, bot, `guest-${guests}`);
};

test('approvalChanged emits a call when it waits, when it is decided and when the user knows the outcome', async () => {
  const fields = 'id status followUpRunId call { status result }';
  const events = await follow(`approvalChanged(botId: "${bot}")`, fields, ask);
  const ofCall = (id: string) => events.filter((event) => event.id === id);
  await app.prisma.approval.deleteMany({ where: { botId: bot } });

  await ask();
  const approved = await waitingCall(app, bot);
  await expect
    .poll(() => ofCall(approved)[0])
    .toMatchObject({ status: 'WAITING', followUpRunId: null, call: { status: 'WAITING' } });
  await decide(tenant, approved, 'APPROVE');
  const told = await settled(app, approved);
  await expect
    .poll(() => ofCall(approved).at(-1))
    .toEqual({
      ...{ id: approved, status: 'APPROVED', followUpRunId: told },
      call: { status: 'COMPLETED', result: 'Refunded.' },
    });

  await ask();
  const late = await waitingCall(app, bot);
  await expire(app, late);
  const toldLate = await settled(app, late);
  await expect
    .poll(() => ofCall(late).at(-1))
    .toEqual({
      ...{ id: late, status: 'EXPIRED', followUpRunId: toldLate },
      call: { status: 'EXPIRED', result: null },
    });
});

test('approvalChanged emits no call of another bot', async () => {
  const other = await tenant.bot(refundTools(site));
  const events = await follow(`approvalChanged(botId: "${bot}")`, 'id bot { id }', async () => {
    guests += 1;
    await askForRefund(tenant, other, `guest-${guests}`);
    await ask();
  });
  expect(new Set(events.map(({ bot }) => (bot as Changed).id))).toEqual(new Set([bot]));
});

test('runChanged emits the run that tells the user', async () => {
  const fields = 'id status trigger causedById response';
  const hi = () => tenant.chat(bot, { message: 'Notice of the server: Hi.' });
  const events = await follow(`runChanged(botId: "${bot}")`, fields, hi);
  const runId = await ask();
  const id = await waitingCall(app, bot);
  await decide(tenant, id, 'APPROVE');
  const told = await settled(app, id);
  const ofRun = () => events.filter((event) => event.id === told);
  await expect.poll(() => ofRun().at(-1)?.status).toBe('COMPLETED');
  expect(ofRun().at(-1)).toMatchObject({
    ...{ trigger: 'APPROVAL', causedById: runId },
    response: expect.stringContaining('Its result: Refunded.'),
  });
});

test.each([
  ['an API key', async () => tenant.apiKey],
  [
    'the token of the session',
    async () => {
      const { data } = await tenant.graphql(
        `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "ada" }) { token } }`,
      );
      return data.createSessionToken.token as string;
    },
  ],
])('sessionChanged emits the outcome to %s', async (_who, credential) => {
  const hi = () =>
    tenant.chat(bot, { message: 'Notice of the server: Hi.' }, { 'x-session-id': 'ada' });
  const fields = 'id waitsForApproval messages(last: 1) { edges { node { role text } } }';
  const field = `sessionChanged(botId: "${bot}", sessionId: "ada")`;
  const events = await follow(field, fields, hi, await credential());
  await askForRefund(tenant, bot);
  await expect.poll(() => events.at(-1)?.waitsForApproval).toBe(true);
  const id = await waitingCall(app, bot);
  await decide(tenant, id, 'DENY', { note: 'Too late.' });
  await settled(app, id);
  await expect.poll(() => events.at(-1)?.waitsForApproval, { timeout: 30_000 }).toBe(false);
  expect(events.at(-1)?.messages).toEqual({
    edges: [
      {
        node: {
          role: 'ASSISTANT',
          text: expect.stringContaining('was denied by a person: Too late.'),
        },
      },
    ],
  });
});
