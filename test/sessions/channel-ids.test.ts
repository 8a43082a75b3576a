import { beforeAll, describe, expect, test } from 'vitest';
import { channelSessionId, isChannelSessionId } from '../../src/sessions/channel-ids.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const RESERVED = ['telegram:1', 'telegram:-5:7', 'web:abc', 'web:'];

/** A session as a channel creates it, with its first message. */
const session = (botId: string, sessionId: string) =>
  app.prisma.session.create({
    data: { id: makeId('ses'), botId, environment: 'PRODUCTION', sessionId },
  });

const TOKEN = `mutation ($botId: ID!, $sessionId: String!) {
  createSessionToken(input: { botId: $botId, sessionId: $sessionId }) { token }
}`;
const REMEMBER = `mutation ($botId: ID!, $sessionId: String!) {
  setMemory(botId: $botId, sessionId: $sessionId, name: "name", value: "Ada") { sessionId }
}`;

describe('the session id of a channel', () => {
  test('has the prefix of its channel, then the parts that identify the user', () => {
    expect(channelSessionId('TELEGRAM', '-5', '7')).toBe('telegram:-5:7');
    expect(channelSessionId('WEB', 'abc')).toBe('web:abc');
    expect(RESERVED.every(isChannelSessionId)).toBe(true);
    expect(['telegram', 'Web:1', 'user-web:1'].some(isChannelSessionId)).toBe(false);
  });

  test.each(RESERVED)(
    'is refused in a chat over REST if no channel has made it: %s',
    async (id) => {
      const bot = await tenant.bot();
      const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': id });
      expect(response.status).toBe(400);
      const { error } = await response.json();
      expect(error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('reserved for the sessions of a channel'),
      });
      expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(0);
      expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
    },
  );

  test.each([
    ['a session token', TOKEN, 'input.sessionId'],
    ['the memory of a session', REMEMBER, 'sessionId'],
  ])('is refused for %s if no channel has made it', async (_what, document, path) => {
    const bot = await tenant.bot();
    const { errors } = await tenant.graphql(document, { botId: bot, sessionId: 'telegram:1' });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_REQUEST', details: [{ path }] });
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(0);
  });

  test('is refused for the session of another bot', async () => {
    const bot = await tenant.bot();
    await session(await tenant.bot(), 'telegram:1');
    const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'telegram:1' });
    expect(response.status).toBe(400);
  });

  test('continues a session of a channel, in a chat, by a token and in its memory', async () => {
    const bot = await tenant.bot();
    await session(bot, 'telegram:1');
    const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'telegram:1' });
    expect(response.status).toBe(200);
    for (const document of [TOKEN, REMEMBER]) {
      const answer = await tenant.graphql(document, { botId: bot, sessionId: 'telegram:1' });
      expect(answer.errors).toBeUndefined();
    }
  });
});
