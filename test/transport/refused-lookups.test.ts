import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { ADDRESS_LIMIT } from '../../src/accounts/limits.ts';
import { createSignedSecrets } from '../../src/accounts/signed-secrets.ts';
import { connectedBot, startTelegramApp, type TelegramApp } from '../channels/telegram/setup.ts';
import { visit, WEB } from '../channels/web/visitors.ts';
import { TEST_SECRET_KEY } from '../helpers/app.ts';
import { ownHeaders, postSession, signIn, viewerBy } from '../helpers/console.ts';
import { recordStatements } from '../helpers/statements.ts';

const REQUESTS = 100;
const MINUTE = 60_000;

let now = Date.UTC(2030, 0, 1);
let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp({ clock: () => now });
});
/** Starts a new rate-limit minute for each test. */
beforeEach(() => {
  now += MINUTE;
});

const post = (path: string, headers: Record<string, string>, body = '{}', method = 'POST') =>
  fetch(at.app.url + path, {
    method,
    headers: { ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
    ...(method === 'POST' && { body }),
  });
const QUERY = '{"query": "{ viewer { account { id } } }"}';
const withCookie = (token: string) => ({
  ...ownHeaders(at.app),
  cookie: `parley_session=${token}`,
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const made = (prefix: string) => createSignedSecrets([TEST_SECRET_KEY], prefix).make();
const random = (bytes: number) => randomBytes(bytes).toString('base64url');

/** More than the look-ups of one address at a time, and fewer than its connections. */
const CONCURRENT = 50;

/** Sends requests, 50 at a time. @returns how many are over the limit, and the statements about a credential. */
async function flood(about: RegExp, send: () => Promise<Response>) {
  const statements = recordStatements();
  // An earlier flood of the same test has recorded its statements here too.
  statements.clear();
  const start = performance.now();
  let refused = 0;
  const sendInTurn = async () => {
    for (let sent = 0; sent < REQUESTS / CONCURRENT; sent += 1) {
      const answer = await send();
      const text = await answer.text();
      if (answer.status === 429 || text.includes('RATE_LIMIT_EXCEEDED')) refused += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, sendInTurn));
  const count = statements.texts().filter((text) => about.test(text)).length;
  return {
    refused,
    count,
    /** Batches of other addresses' look-ups, ten statements a second. */
    batched: 1 + Math.floor((performance.now() - start) / 100),
  };
}

/** The look-ups of credentials. Background tasks read the same tables, but not by a credential. */
const CREDENTIALS =
  /(?:sign_in_codes|console_sessions|api_keys).*\\"hash\\" (?:=|IN)|\\"api_keys\\"\.\\"id\\" (?:=|IN)|webhook_path\\" (?:=|IN)/;
/** The same with the bots of visitors and their logos. */
const SECRETS = new RegExp(`${CREDENTIALS.source}|\\\\"(?:bots|bot_logos)\\\\"`);

describe('100 refused requests of one address', () => {
  test.each<[string, () => Promise<Response>]>([
    ['a cookie of no session', () => post('/graphql', withCookie(random(32)), QUERY)],
    [
      'a cookie with a forged signature',
      () => post('/graphql', withCookie(`parley_cs_${random(48)}`), QUERY),
    ],
    [
      'a sign-in code with a forged signature',
      () => postSession(at.app, { code: `parley_si_${random(48)}` }),
    ],
    ['a code in place of a cookie', () => post('/graphql', withCookie(made('parley_si_')), QUERY)],
    ['a mistyped key', () => post('/graphql', bearer(`parley_sk_${'0'.repeat(49)}`), QUERY)],
    ['a mistyped key, over REST', () => post('/v1/bots/any/chat', bearer('parley_sk_1'))],
    [
      'a forged session token',
      () => post('/graphql', bearer(`e30..${random(9)}.${random(99)}.${random(9)}`), QUERY),
    ],
    [
      'a cookie of no session at the sign-out',
      () => post('/session', withCookie(random(32)), '', 'DELETE'),
    ],
    [
      'a webhook path of another form',
      () => post('/channels/telegram/x', { 'x-telegram-bot-api-secret-token': random(32) }),
    ],
    [
      'a webhook secret of another form',
      () => post(`/channels/telegram/${random(32)}`, { 'x-telegram-bot-api-secret-token': 'x' }),
    ],
  ])('with %s cause no look-up', async (_what, send) => {
    const { refused, count } = await flood(CREDENTIALS, send);
    expect([count, refused]).toEqual([0, REQUESTS - ADDRESS_LIMIT.perMinute]);
  });

  test.each<[string, () => Promise<Response>]>([
    ['a cookie of an ended session', () => post('/graphql', withCookie(made('parley_cs_')), QUERY)],
    [
      'a cookie of an ended session at the sign-out',
      () => post('/session', withCookie(made('parley_cs_')), '', 'DELETE'),
    ],
    ['a used sign-in code', () => postSession(at.app, { code: made('parley_si_') })],
    [
      'a used sign-in code at its inspection',
      () => post('/session/code', ownHeaders(at.app), JSON.stringify({ code: made('parley_si_') })),
    ],
    ['an unknown key', () => post('/v1/bots/any/chat', bearer(makeApiKey()))],
    ['an unknown key, over GraphQL', () => post('/graphql', bearer(makeApiKey()), QUERY)],
    [
      'an unknown webhook',
      () =>
        post(`/channels/telegram/${random(32)}`, { 'x-telegram-bot-api-secret-token': random(32) }),
    ],
    ['the chat page of no bot', () => post(`/chat/no-${random(9)}`, {}, '', 'GET')],
    [
      'the logo of no bot',
      () => post(`/chat/no-${random(9)}/logo/${randomBytes(16).toString('hex')}`, {}, '', 'GET'),
    ],
    ['a visit of no bot', () => post(`/chat/no-${random(9)}/session`, { origin: at.app.url })],
  ])(
    'with %s cause one look-up each within the limit, and batches beyond it',
    async (_what, send) => {
      const { refused, count, batched } = await flood(SECRETS, send);
      expect(refused).toBeGreaterThanOrEqual(REQUESTS - ADDRESS_LIMIT.perMinute);
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(ADDRESS_LIMIT.perMinute + batched);
    },
  );

  test('that count nothing, such as those with a broken body, cause as few', async () => {
    const { count, batched } = await flood(SECRETS, () =>
      post('/graphql', bearer(makeApiKey()), '{'),
    );
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(ADDRESS_LIMIT.perMinute + batched);
  });

  test('with a wrong secret of a known webhook cause as few, and do not block Telegram', async () => {
    const { bot } = await connectedBot(at);
    const { pathname } = new URL(bot.webhook()?.url ?? '');
    const { refused, count, batched } = await flood(SECRETS, () =>
      post(pathname, { 'x-telegram-bot-api-secret-token': random(32) }),
    );
    expect(refused).toBe(REQUESTS - ADDRESS_LIMIT.perMinute);
    // All of them may arrive before the first one is counted.
    expect(count).toBeLessThanOrEqual(ADDRESS_LIMIT.perMinute * 2 + batched);
    expect((await bot.deliver(at.app.url, bot.text('Hi'))).status).toBe(200);
  });

  test('as visitors of a bot whose page is closed cause as few', async () => {
    const bot = await at.tenant.bot(WEB);
    const { token } = await visit(at.app, bot);
    await at.app.prisma.activeDeployment.deleteMany({ where: { botId: bot } });
    const headers = { ...bearer(token), origin: at.app.url };
    const { refused, count, batched } = await flood(/\\"bots\\"/, () =>
      post('/graphql', headers, QUERY),
    );
    expect(refused).toBe(REQUESTS - ADDRESS_LIMIT.perMinute);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(ADDRESS_LIMIT.perMinute + batched);
  });

  test('as a visitor over its limit cause as few', async () => {
    const bot = await at.tenant.bot(WEB);
    await at.app.prisma.bot.update({
      where: { id: bot },
      data: { visitorSessionsPerHour: 1, visitorMessagesPerMinute: 1 },
    });
    const { token } = await visit(at.app, bot);
    const headers = { ...bearer(token), origin: at.app.url };
    const read = () => post('/graphql', headers, `{"query": "{ bot(id: \\"${bot}\\") { name } }"}`);
    const mine = new RegExp(`\\\\"bots\\\\".*${bot}`);
    expect((await flood(mine, read)).count).toBeGreaterThan(0);
    const { refused, count, batched } = await flood(mine, read);
    expect(refused).toBe(REQUESTS);
    expect(count).toBeLessThanOrEqual(batched);
  });

  test('do not block valid credentials of that address', async () => {
    const code = await at.app.issueSignInCode(
      (await at.app.prisma.apiKey.findFirstOrThrow({ where: { accountId: at.tenant.accountId } }))
        .id,
    );
    const cookie = await signIn(at.app, at.tenant.apiKey);
    await flood(SECRETS, () => post('/graphql', bearer(makeApiKey()), QUERY));
    expect((await post('/v1/bots/none/chat', bearer(makeApiKey()))).status).toBe(429);
    expect(await viewerBy(at.app, { ...ownHeaders(at.app), cookie })).toBe(at.tenant.accountId);
    expect(await viewerBy(at.app, at.tenant.headers)).toBe(at.tenant.accountId);
    expect((await postSession(at.app, { code })).status).toBe(204);
  });
});
