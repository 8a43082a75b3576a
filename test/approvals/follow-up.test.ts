import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

const ARGUMENTS = '{"order_id":"A-1","amount":5}';

test.each<[what: string, sentence: string, decision: (id: string) => Promise<unknown>]>([
  [
    'approved',
    'was approved by a person. Its result: Refunded.',
    (id) => decide(tenant, id, 'APPROVE'),
  ],
  [
    'denied',
    'was denied by a person: Too late. It has not happened.',
    (id) => decide(tenant, id, 'DENY', { note: 'Too late.' }),
  ],
  ['expired', 'expired: nobody approved it in time. It has not happened.', (id) => expire(app, id)],
])(
  'the model gets the history and the sentence that the call was %s',
  async (_what, sentence, decision) => {
    await askForRefund(tenant, bot);
    const id = await waitingCall(app, bot);
    const asked = app.upstream.requests.length;
    await decision(id);
    await settled(app, id);
    const [request, ...others] = app.upstream.requests.slice(asked);
    expect(others).toEqual([]);
    const [system, ...messages] = request?.body.messages ?? [];
    expect(system?.role).toBe('system');
    expect(messages).toMatchObject([
      { role: 'user', content: 'Refund A-1.' },
      {
        role: 'assistant',
        tool_calls: [{ function: { name: 'orders_refund', arguments: ARGUMENTS } }],
      },
      { role: 'tool', content: expect.stringContaining('waits for approval by a person') },
      { role: 'assistant', content: 'I asked.' },
      { role: 'user', content: expect.stringContaining(sentence) },
    ]);
    expect(messages.at(-1)?.content).toContain(
      `The call orders.refund with ${ARGUMENTS} ${sentence} Tell the user.`,
    );
  },
);

const RUN = `kind status trigger causedById channel entrance environment user sessionId
  deploymentId`;

test('the run that tells the user has the kind, conversation, channel and environment of the run that asked', async () => {
  const runId = await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  await decide(tenant, id, 'DENY');
  const followUp = await settled(app, id);
  const { data, errors } = await tenant.graphql(
    `query ($asked: ID!, $told: ID!) { asked: run(id: $asked) { ${RUN} } told: run(id: $told) { ${RUN} } }`,
    { asked: runId, told: followUp },
  );
  expect(errors).toBeUndefined();
  expect(data.asked).toMatchObject({
    ...{ kind: 'CHAT', status: 'COMPLETED', trigger: 'REQUEST', causedById: null },
    ...{ channel: 'API', environment: 'PRODUCTION', user: 'ada' },
  });
  expect(data.told).toEqual({ ...data.asked, trigger: 'APPROVAL', causedById: runId });
  const rest = await fetch(`${app.url}/v1/bots/${bot}/runs/${followUp}`, {
    headers: tenant.headers,
  });
  expect(await rest.json()).toMatchObject({
    ...{ kind: 'chat', trigger: 'approval', caused_by: runId, channel: 'api' },
  });
});

test('a conversation that was busy gets the outcome after its turn', async () => {
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  const [waits, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const refund = requestRefund();
  app.upstream.script(async (exchange) => {
    if (exchange.request.body.messages.at(-1)?.content !== 'Wait.') return refund(exchange);
    waits.resolve();
    await goOn.promise;
    exchange.say('I waited.');
    return exchange.end();
  });
  const turn = tenant.chat(bot, { message: 'Wait.' }, { 'x-session-id': 'ada' });
  await waits.promise;
  await decide(tenant, id, 'DENY');
  await expect.poll(() => app.waiting(), { timeout: 30_000 }).toBeGreaterThan(0);
  goOn.resolve();
  expect((await turn).status).toBe(200);
  const followUp = await settled(app, id);
  app.upstream.script(requestRefund());
  const { data } = await tenant.graphql(
    `{ bot(id: "${bot}") { session(id: "ada") { messages(last: 2) { edges { node { text run { id } } } } } } }`,
  );
  const [told, outcome] = data.bot.session.messages.edges;
  expect([told.node.run.id, outcome.node.run.id]).toEqual([followUp, followUp]);
  expect(outcome.node.text).toContain('was denied by a person.');
});
