import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateBot, visit } from '../../channels/web/visitors.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { readFrames } from '../../helpers/readers.ts';
import { type Site, startSite } from '../../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  site = await startSite();
  site.handle((_request, response) => response.end('shipped'));
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
  bot = await tenant.bot(`channel web { welcome "Hi!" }
  tools orders {
    capability lookup "Finds an order." { input { order_id string } get "${site.origin}/orders" }
  }`);
  await updateBot(tenant, bot, { visitorMessagesPerMinute: 1_000 });
  app.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.at(-1)?.role === 'user')
      return call(['orders_lookup', { order_id: 'A-1' }]);
    say('Done.');
    return end();
  });
});
afterAll(() => site.close());

const EVENT = `type: __typename ... on RunStarted { runId } ... on ToolStarted { name arguments }
  ... on ToolFinished { name result }`;

type Event = { type: string; runId?: string; [member: string]: unknown };

/** Reads the events of a subscription over SSE. */
const eventsOf = async (secret: string, subscription: string): Promise<Event[]> => {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      origin: app.url,
    },
    body: JSON.stringify({ query: `subscription { event: ${subscription} { ${EVENT} } }` }),
  });
  const events: Event[] = [];
  for await (const { data, errors } of readFrames(response)) {
    expect(errors).toBeUndefined();
    events.push((data as { event: Event }).event);
  }
  return events;
};

const tokenOf = async () => {
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "ada" }) { token } }`,
  );
  return data.createSessionToken.token as string;
};

const [NAME, INPUT] = ['orders.lookup', { order_id: 'A-1' }];

test.each<[who: string, credential: () => Promise<string>, isTold: boolean]>([
  ['shown to a key with the scope RUNS', () => tenant.key({ scopes: ['CHAT', 'RUNS'] }), true],
  ['hidden from a key with the scope CHAT alone', () => tenant.key({ scopes: ['CHAT'] }), false],
  ['hidden from a session token of a key with all scopes', tokenOf, false],
  ['hidden from a visitor', async () => (await visit(app, bot)).token, false],
])(
  'the arguments and the result of a call are %s, while the run is active and after it',
  async (_who, credential, isTold) => {
    const secret = await credential();
    const live = await eventsOf(secret, `chat(botId: "${bot}", input: { message: "Where?" })`);
    const runId = live.find(({ type }) => type === 'RunStarted')?.runId;
    const replayed = await eventsOf(secret, `runEvents(botId: "${bot}", runId: "${runId}")`);
    for (const events of [live, replayed])
      expect(events.filter(({ type }) => type.startsWith('Tool'))).toEqual([
        { type: 'ToolStarted', name: NAME, arguments: isTold ? INPUT : null },
        { type: 'ToolFinished', name: NAME, result: isTold ? 'shipped' : null },
      ]);
  },
);

test('the frames of the REST events have them for keys with the scope RUNS only', async () => {
  const { run_id: runId } = await (await tenant.chat(bot, { message: 'Where?' })).json();
  const framesFor = async (key: string) => {
    const response = await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const frames = await Array.fromAsync(readFrames(response));
    return frames.filter(({ event }) => String(event).startsWith('tool_'));
  };
  expect(await framesFor(await tenant.key({ scopes: ['CHAT', 'RUNS'] }))).toMatchObject([
    { event: 'tool_started', name: NAME, arguments: INPUT },
    { event: 'tool_finished', name: NAME, result: 'shipped' },
  ]);
  const chatter = await framesFor(await tenant.key({ scopes: ['CHAT'] }));
  expect(chatter).toMatchObject([{ event: 'tool_started' }, { event: 'tool_finished' }]);
  for (const frame of chatter) {
    expect(frame).not.toHaveProperty('arguments');
    expect(frame).not.toHaveProperty('result');
  }
});
