import { createClient } from 'graphql-sse';
import { beforeAll, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const tokenOf = async (sessionId: string): Promise<string> => {
  const { data } = await tenant.graphql(
    `mutation ($bot: ID!, $id: String!) {
      createSessionToken(input: { botId: $bot, sessionId: $id }) { token } }`,
    { bot, id: sessionId },
  );
  return data.createSessionToken.token;
};

const SESSION_CHANGED = `subscription ($bot: ID!, $id: String!) {
  sessionChanged(botId: $bot, sessionId: $id) { sessionId waitsForApproval
    messages(last: 2) { edges { node { role text } } } } }`;

const follow = (secret: string, id: string) =>
  createClient({
    url: `${app.url}/graphql/stream`,
    headers: { authorization: `Bearer ${secret}` },
    retryAttempts: 0,
  }).iterate<{ sessionChanged: object }>({ query: SESSION_CHANGED, variables: { bot, id } });

test('a session token follows its own conversation, and no other one', async () => {
  const events = follow(await tokenOf('ada'), 'ada');
  const first = events.next();
  let isOver = false;
  void first.finally(() => {
    isOver = true;
  });
  // The subscription may begin after a message, so another one follows until it has an event.
  while (!isOver) {
    await (await tenant.chat(bot, { message: 'To Bob' }, { 'x-session-id': 'bob' })).text();
    await (await tenant.chat(bot, { message: 'To Ada' }, { 'x-session-id': 'ada' })).text();
  }
  const { value } = await first;
  expect(value.data?.sessionChanged).toEqual({
    sessionId: 'ada',
    waitsForApproval: false,
    messages: {
      edges: [
        { node: { role: 'USER', text: 'To Ada' } },
        { node: { role: 'ASSISTANT', text: 'Hello there.' } },
      ],
    },
  });
  await events.return?.();
  const { value: refused } = await follow(await tokenOf('ada'), 'bob').next();
  expect(refused.errors?.[0]?.extensions?.code).toBe('INSUFFICIENT_SCOPE');
});
