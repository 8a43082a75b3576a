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

const SECRET = 'hunter2-hunter2';

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
  bot = await tenant.bot(null);
  app.upstream.script(requestRefund());
  app.upstream.requests.length = 0;
  site.requests.length = 0;
  // The service answers with the request.
  site.handle(({ url }, response) => response.end(`You sent ${url}`));
  const source = `agentlang 5\nagent "T" { prompt "Help." ${refundTools(site, '/refunds?key={{env.SECRET}}')} }`;
  const { data, errors } = await tenant.graphql(
    `mutation ($id: ID!, $source: String!, $vars: [EnvVarInput!]) {
      deploy(botId: $id, input: { source: $source, envVars: $vars }) { status } }`,
    { id: bot, source, vars: [{ name: 'SECRET', value: SECRET }] },
  );
  expect(errors).toBeUndefined();
  expect(data.deploy.status).toBe('DEPLOYED');
});
afterAll(() => site.close());

const readText = async (path: string) => {
  const response = await fetch(`${app.url}/v1/bots/${bot}/${path}`, { headers: tenant.headers });
  expect(response.status).toBe(200);
  return response.text();
};

const CALL = 'name arguments request { method url body } status result';

test('the value of a variable is in the request that is sent, and nowhere else', async () => {
  const asked = await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  await decide(tenant, id, 'APPROVE', { arguments: { order_id: 'A-1', amount: 2 } });
  const told = await settled(app, id);
  expect(site.requests.map(({ url }) => url)).toEqual([`/refunds?key=${SECRET}`]);

  const shown = await tenant.graphql(
    `query ($id: ID!, $asked: ID!, $told: ID!, $bot: ID!) {
      approval(id: $id) { arguments editedArguments request { url body } call { ${CALL} } }
      asked: run(id: $asked) { response toolCalls { ${CALL} } trace { spans { name attributes } } }
      told: run(id: $told) { input response toolCalls { ${CALL} } trace { spans { name attributes } } }
      bot(id: $bot) { session(id: "ada") { messages(first: 20) { edges { node { text } } } } }
    }`,
    { id, asked, told, bot },
  );
  expect(shown.errors).toBeUndefined();
  const texts = {
    GraphQL: JSON.stringify(shown),
    approval: await readText(`approvals/${id}`),
    approvals: await readText('approvals'),
    run: await readText(`runs/${asked}`),
    events: await readText(`runs/${asked}/events`),
    outcome: await readText(`runs/${told}/events`),
    // The export of an account has these rows.
    rows: JSON.stringify(
      [
        await app.prisma.approval.findMany({
          where: { botId: bot },
          include: { toolCall: true },
        }),
        await app.prisma.run.findMany({ where: { botId: bot }, include: { prompt: true } }),
        await app.prisma.message.findMany({ where: { run: { botId: bot } } }),
      ],
      (_name, value) => (typeof value === 'bigint' ? String(value) : value),
    ),
    model: JSON.stringify(app.upstream.requests.map(({ body }) => body.messages)),
  };
  for (const [where, text] of Object.entries(texts)) expect(text, where).not.toContain('hunter2');
  for (const where of ['GraphQL', 'approval', 'run', 'rows'] as const)
    expect(texts[where], where).toContain('/refunds?key=[env.SECRET]');
  for (const where of ['outcome', 'model'] as const)
    expect(texts[where], where).toContain('You sent /refunds?key=[env.SECRET]');
});

test('a call whose arguments hold the value of a variable cannot wait, and the model learns why', async () => {
  app.upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'user') return call(['orders_refund', { order_id: SECRET, amount: 5 }]);
    say(`${last?.content}`);
    return end();
  });
  const { response } = await (await tenant.chat(bot, { message: 'Refund it.' })).json();
  expect(response).toBe(
    'Error: The call cannot wait for approval: its arguments hold the value of a variable, or are too long.',
  );
  expect(await app.prisma.approval.count({ where: { botId: bot } })).toBe(0);
});

test('a person cannot store the value of a variable in edited arguments', async () => {
  await askForRefund(tenant, bot);
  const id = await waitingCall(app, bot);
  for (const value of [SECRET, Buffer.from(SECRET).toString('base64')]) {
    const edited = { order_id: `x ${value} y`, amount: 2 };
    const answer = await decide(tenant, id, 'APPROVE', { arguments: edited });
    expect(errorOf(answer)?.code).toBe('INVALID_REQUEST');
    expect(JSON.stringify(answer.errors)).toContain('must not hold the value of a variable');
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  }
  expect(await waitingCall(app, bot)).toBe(id);
  expect(site.requests).toEqual([]);
});
