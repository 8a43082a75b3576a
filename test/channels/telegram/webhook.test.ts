import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../web/visitors.ts';
import { connectedBot, deploy, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
const lines: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  at = await startTelegramApp({ log });
});

const SECRET = 'x-telegram-bot-api-secret-token';
const stored = (botId: string) => at.app.prisma.telegramUpdate.count({ where: { botId } });

describe('the webhook of a deployment', () => {
  /** An authorization header with a session token. */
  const withToken = async (botId: string) => {
    const { data } = await at.tenant.graphql(
      'mutation ($id: ID!) { createSessionToken(input: { botId: $id, sessionId: "s" }) { token } }',
      { id: botId },
    );
    return { authorization: `Bearer ${data.createSessionToken.token}` };
  };
  const asVisitor = async (botId: string) => {
    const { token } = await visit(at.app, botId);
    return { authorization: `Bearer ${token}`, origin: at.app.url };
  };

  test.each<[string, (secret: string, botId: string) => object | Promise<object>]>([
    ['no secret', () => ({ [SECRET]: '' })],
    ['a wrong secret', () => ({ [SECRET]: 'x'.repeat(43) })],
    ['the secret with a further letter', (secret) => ({ [SECRET]: `${secret}x` })],
    ['an API key of all scopes', () => ({ [SECRET]: '', ...at.tenant.headers })],
    ['a session token', async (_, id) => ({ [SECRET]: '', ...(await withToken(id)) })],
    ['the token of a visitor', async (_, id) => ({ [SECRET]: '', ...(await asVisitor(id)) })],
  ])('answers 401 to a request with %s, and stores nothing', async (_what, headersOf) => {
    const { botId, bot } = await connectedBot(at, 'channel web');
    const headers = await headersOf(bot.webhook()?.secret ?? '', botId);
    const response = await bot.deliver(at.app.url, bot.text('Hi'), { ...headers });
    expect(response.status).toBe(401);
    expect((await response.json()).error.code).toBe('invalid_api_key');
    expect(await stored(botId)).toBe(0);
  });

  test('has a secret that is no key', async () => {
    const { botId, bot } = await connectedBot(at);
    const { secret = '' } = bot.webhook() ?? {};
    const headers = { authorization: `Bearer ${secret}`, [SECRET]: secret };
    const overRest = await fetch(`${at.app.url}/v1/bots/${botId}/runs`, { headers });
    expect(overRest.status).toBe(401);
    const { errors } = await at.app.graphql(secret, `{ bot(id: "${botId}") { id } }`);
    expect(errors?.[0]?.extensions.code).toBe('INVALID_API_KEY');
  });

  test('needs no API key', async () => {
    const { botId, bot } = await connectedBot(at);
    expect((await bot.deliver(at.app.url, bot.text('Hi'))).status).toBe(200);
    expect(await stored(botId)).toBe(1);
  });

  test('answers 401 to the secret of another deployment, and at an unknown path', async () => {
    const { bot } = await connectedBot(at);
    const other = await connectedBot(at);
    const { secret = '' } = other.bot.webhook() ?? {};
    const crossed = await bot.deliver(at.app.url, bot.text('Hi'), { [SECRET]: secret });
    expect(crossed.status).toBe(401);
    for (const path of ['x', 'x'.repeat(43), '%00', '..%2f..']) {
      const url = `${at.app.url}/channels/telegram/${path}`;
      const response = await fetch(url, { method: 'POST', headers: { [SECRET]: secret } });
      expect(response.status).toBe(401);
    }
  });

  test('answers 401 at the path of an earlier deployment', async () => {
    const { botId, bot } = await connectedBot(at);
    const { url = '', secret = '' } = bot.webhook() ?? {};
    await deploy(at.tenant, botId, bot.token);
    const response = await fetch(at.app.url + new URL(url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [SECRET]: secret },
      body: JSON.stringify(bot.text('Hi')),
    });
    expect(response.status).toBe(401);
  });

  test.each([
    ['malformed JSON', '{"update_id": 1', 400, 'invalid_json'],
    ['more than 1 MiB', `"${'x'.repeat(1024 * 1024)}"`, 400, 'request_too_large'],
  ])('refuses a body of %s', async (_what, body, status, code) => {
    const { bot } = await connectedBot(at);
    const { url = '', secret = '' } = bot.webhook() ?? {};
    const response = await fetch(at.app.url + new URL(url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [SECRET]: secret },
      body,
    });
    expect(response.status).toBe(status);
    expect((await response.json()).error.code).toBe(code);
  });

  test.each([
    ['an unknown kind', { update_id: 1, something_new: {} }],
    ['a list', []],
    ['an id beyond 2^53', { update_id: 2 ** 60, message: {} }],
    ['a text where an object should be', { update_id: 1, message: 'Hi' }],
  ])('answers 200 to an update that is %s, and ignores it', async (_what, update) => {
    const { botId, bot } = await connectedBot(at);
    expect((await bot.deliver(at.app.url, update)).status).toBe(200);
    expect(await stored(botId)).toBe(0);
  });

  test('answers before the reply, while the model and Telegram are slow', async () => {
    const { bot } = await connectedBot(at);
    const never = new Promise(() => {});
    at.app.upstream.script(({ closed }) => closed.then(() => {}));
    at.telegram.script(({ method }) => (method === 'sendChatAction' ? never : undefined));
    expect((await bot.deliver(at.app.url, bot.text('Hi'))).status).toBe(200);
  });
});

describe('the token of a Telegram bot', () => {
  test('is in no log line, answer, trace or row in clear', async () => {
    at.telegram.script(({ method }) =>
      method === 'sendMessage' ? { code: 500, description: 'Broken' } : undefined,
    );
    const { botId, bot } = await connectedBot(at);
    at.app.upstream.script(({ say, end }) => {
      say(`My token is ${bot.token}.`);
      end();
    });
    await bot.deliver(at.app.url, bot.text('What is your token?'));
    await expect.poll(() => bot.calls('sendMessage').length).toBeGreaterThan(0);
    const secret = bot.token.split(':')[1] ?? '';
    const { prisma } = at.app;
    await expect
      .poll(async () => (await prisma.run.findFirst({ where: { botId } }))?.status)
      .toBe('COMPLETED');
    const rows = await Promise.all([
      prisma.run.findMany({ where: { botId } }),
      prisma.channelState.findMany({ where: { botId } }),
      prisma.deployment.findMany({ where: { botId }, omit: { envVars: true } }),
      prisma.message.findMany({ where: { session: { botId } } }),
      prisma.telegramUpdate.findMany({ where: { botId }, omit: { updateId: true, sentIds: true } }),
    ]);
    const sent = JSON.stringify(bot.calls('sendMessage').map(({ body }) => body));
    const path = bot.webhook()?.url.split('/').at(-1) ?? '';
    const everything = [...lines, JSON.stringify(rows), sent].join('\n');
    expect(everything).toContain('My token is');
    expect(everything).not.toContain(secret);
    expect(lines.join('\n')).not.toContain(path);
    expect(lines.join('\n')).not.toContain(bot.webhook()?.secret);
    expect(lines.join('\n')).toContain('/channels/telegram/:path');
  });
});
