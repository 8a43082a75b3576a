import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  site = await startSite();
  site.handle((_request, response) => response.end('shipped'));
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot(membersWith('Old.'));
});
afterAll(() => site.close());

const membersWith = (prompt: string, more = '') => `prompt "${prompt}"
  tools orders {
    capability lookup "Finds an order." { input { order_id string } get "${site.origin}/orders" }
  }
  ${more}`;

const sourceWith = (prompt: string, more = '') =>
  `agentlang 5\nagent "Desk" {\n  description "d"\n  ${membersWith(prompt, more)}\n}\n`;

/** Scripts a model that calls the tool with an order id, and replies; and one that judges by the texts of both replies. */
const script = (
  orderOf: (prompt: string, message: string) => string,
  reply = (_prompt: string, _message: string) => 'Hello.',
) =>
  app.upstream.script(({ request, call, say, end }) => {
    const { messages } = request.body;
    const system = messages[0]?.content ?? '';
    if (system.includes('You compare two replies')) {
      const data = JSON.parse(messages.at(-1)?.content.replaceAll(/<\/?data>/g, '') ?? '{}');
      const better = data.replyA === 'Rude.' ? 'B' : 'A';
      say(JSON.stringify({ reason: 'One is rude.', better }));
      return end();
    }
    const prompt = system.slice(0, 4);
    const message = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    if (messages.at(-1)?.role === 'user')
      return call(['orders_lookup', { order_id: orderOf(prompt, message) }]);
    say(reply(prompt, message));
    return end();
  });

const chat = async (message: string): Promise<string> => {
  const response = await tenant.chat(bot, { message });
  expect(response.status).toBe(200);
  return (await response.json()).run_id;
};

const setGate = async (gate: object) => {
  const { errors } = await tenant.graphql(
    `mutation ($id: ID!, $gate: GateInput) { updateBot(id: $id, input: { gate: $gate }) { id } }`,
    { id: bot, gate },
  );
  expect(errors).toBeUndefined();
};

const FACTS = 'id status waitsForGate evaluationId diagnostics { severity code message }';

/** Deploys a source. @returns the decision of the gate. */
const deploy = async (source: string) => {
  const { data, errors } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!) {
      deploy(botId: $bot, input: { source: $source }) { ${FACTS} } }`,
    { bot, source },
  );
  expect(errors).toBeUndefined();
  const read = async () =>
    (await tenant.graphql(`{ node(id: "${data.deploy.id}") { ... on Deployment { ${FACTS} } } }`))
      .data.node;
  await expect.poll(async () => (await read()).waitsForGate, { timeout: 60_000 }).toBe(false);
  const { status, diagnostics, evaluationId } = await read();
  return {
    status,
    evaluationId,
    lines: diagnostics
      .filter(({ severity }: Record<string, string>) => severity === 'ERROR')
      .map(({ code, message }: Record<string, string>) => `${message} [${code}]`),
  };
};

test('maxDiverged: one run more than may make other calls holds the deploy, and as many pass', async () => {
  // The new definition asks for another order in two of three runs.
  script((prompt, message) => (prompt === 'New.' && message !== 'one' ? 'Z-9' : 'A-1'));
  for (const message of ['one', 'two', 'three']) await chat(message);
  const replay = { last: 10, maxWorse: 0 };
  await setGate({ tests: false, replay: { ...replay, maxDiverged: 1 } });
  const requests = site.requests.length;
  expect(await deploy(sourceWith('New.'))).toMatchObject({
    status: 'FAILED',
    lines: [
      '2 of 3 replayed runs made calls that were not recorded; at most 1 may [replay-failed]',
    ],
  });
  await setGate({ tests: false, replay: { ...replay, maxDiverged: 2 } });
  expect(await deploy(sourceWith('New.'))).toMatchObject({ status: 'DEPLOYED', lines: [] });
  expect(site.requests.length).toBe(requests);
});

test('feedback: only runs with this rating hold the deploy', async () => {
  script(
    () => 'A-1',
    (prompt, message) => (prompt === 'New.' && message === 'two' ? 'Rude.' : 'Hello.'),
  );
  const runs = new Map<string, string>();
  for (const message of ['one', 'two']) runs.set(message, await chat(message));
  for (const [message, rating] of [
    ['one', 'DOWN'],
    ['two', 'UP'],
  ] as const) {
    const { errors } = await tenant.graphql(
      `mutation { addFeedback(runId: "${runs.get(message)}", rating: ${rating}) { rating } }`,
    );
    expect(errors).toBeUndefined();
  }
  const casesOf = async (evaluationId: string) =>
    (await app.prisma.evaluationCase.findMany({ where: { evaluationId } })).map(
      ({ runId }) => runId,
    );
  await setGate({ tests: false, replay: { feedback: 'UP', maxWorse: 0 } });
  const held = await deploy(sourceWith('New.'));
  expect(held).toMatchObject({
    status: 'FAILED',
    lines: ['1 of 1 replayed run is worse; at most 0 may be [replay-failed]'],
  });
  expect(await casesOf(held.evaluationId)).toEqual([runs.get('two')]);
  await setGate({ tests: false, replay: { feedback: 'DOWN', maxWorse: 0 } });
  const passed = await deploy(sourceWith('New.'));
  expect(passed.status).toBe('DEPLOYED');
  expect(await casesOf(passed.evaluationId)).toEqual([runs.get('one')]);
});

test('repeat: a test that fails in one of its attempts holds the deploy', async () => {
  let attempts = 0;
  app.upstream.script(({ say, end }) => {
    attempts += 1;
    say(attempts === 2 ? 'No.' : 'Hello.');
    end();
  });
  const source = sourceWith('New.', 'test "greets" { user "Hi" expect reply is "Hello." }');
  await setGate({ tests: true, repeat: 3 });
  const held = await deploy(source);
  expect(held.status).toBe('FAILED');
  expect(held.lines[0]).toMatch(/^the test "greets" failed: expected reply is "Hello\."/);
  expect(attempts).toBe(3);
  attempts = 2;
  expect((await deploy(source)).status).toBe('DEPLOYED');
  expect(attempts).toBe(5);
});
