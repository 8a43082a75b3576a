import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createClient as createEventClient } from 'graphql-sse';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ChatWhole, RenameBot, Viewer } from '../../src/generated/operations/console.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { cookieIn, ownHeaders, postSession, signIn, viewerBy } from '../helpers/console.ts';

type GraphQLAnswer = { errors?: { extensions: { code: string } }[] };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A date far from the real one, so that no test depends on the real clock. */
let now = Date.UTC(2030, 0, 1);
let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp({ clock: () => now });
  tenant = await app.tenant();
});

/** Starts a new rate-limit minute. */
const nextMinute = () => {
  now = Math.ceil((now + 1) / MINUTE) * MINUTE;
};

const keyIdOf = async (key: string) => {
  const { data } = await app.graphql(key, '{ viewer { apiKey { id } } }');
  return data.viewer.apiKey.id as string;
};

const issueCode = async () => app.issueSignInCode(await keyIdOf(tenant.apiKey));

describe('signing in', () => {
  test('exchanges a key for a cookie that scripts and other sites cannot use', async () => {
    const answer = await postSession(app, { key: ` ${tenant.apiKey}\n` });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    const [cookie = '', ...others] = answer.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toMatch(
      /^parley_session=parley_cs_[\w-]{64}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await viewerBy(app, { ...ownHeaders(app), cookie: cookieIn(answer) })).toBe(
      tenant.accountId,
    );
  });

  test('marks the cookie as secure over https, and accepts no other cookie there', async () => {
    const proxied = await startApp({ clock: () => now, trustProxy: ['127.0.0.1'] });
    const secure = {
      ...ownHeaders(proxied),
      origin: 'https://bots.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'bots.example',
    };
    const answer = await postSession(proxied, { key: tenant.apiKey }, secure);
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-parley_session=.*; Secure$/);
    const cookie = cookieIn(answer);
    expect(await viewerBy(proxied, { ...secure, cookie })).toBe(tenant.accountId);
    const planted = cookie.replace('__Host-', '');
    expect(await viewerBy(proxied, { ...secure, cookie: planted })).toBe('MISSING_API_KEY');
  });

  test('stores only the hash of the token', async () => {
    const cookie = await signIn(app, tenant.apiKey);
    const rows = await app.prisma.consoleSession.findMany();
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1]);
  });

  test.each([
    ['a key of another server', { key: `parley_sk_${'0'.repeat(49)}` }, 401, 'invalid_api_key'],
    ['an unknown code', { code: `parley_si_${'0'.repeat(64)}` }, 401, 'invalid_api_key'],
    ['no body', null, 400, 'invalid_request'],
    ['a key and a code', { key: 'x', code: 'x' }, 400, 'invalid_request'],
    ['a number', { key: 1 }, 400, 'invalid_request'],
    ['a long text', { key: 'x'.repeat(257) }, 400, 'invalid_request'],
  ])('refuses %s, and sets no cookie', async (_what, body, status, code) => {
    nextMinute();
    const answer = await postSession(app, body);
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual([status, code]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('refuses a revoked key', async () => {
    nextMinute();
    const revoked = await tenant.key({ revokedAt: new Date() });
    expect((await postSession(app, { key: revoked })).status).toBe(401);
  });

  test('allows an address 30 wrong keys a minute', async () => {
    nextMinute();
    const guess = async () =>
      (await postSession(app, { key: `parley_sk_${'1'.repeat(49)}` })).status;
    for (let count = 0; count < 30; count += 1) expect(await guess()).toBe(401);
    expect(await guess()).toBe(429);
    expect((await postSession(app, { key: tenant.apiKey })).status).toBe(204);
  });

  test('ends the browser’s previous session', async () => {
    nextMinute();
    const cookie = await signIn(app, tenant.apiKey);
    await postSession(app, { key: tenant.apiKey }, { ...ownHeaders(app), cookie });
    expect(await viewerBy(app, { ...ownHeaders(app), cookie })).toBe('INVALID_API_KEY');
  });

  test('keeps the newest 100 sessions of a key', async () => {
    nextMinute();
    const key = await tenant.key();
    const first = await signIn(app, key);
    for (let count = 0; count < 100; count += 1) {
      now += 1;
      await signIn(app, key);
    }
    const keyId = await keyIdOf(key);
    expect(await app.prisma.consoleSession.count({ where: { keyId } })).toBe(100);
    expect(await viewerBy(app, { ...ownHeaders(app), cookie: first })).toBe('INVALID_API_KEY');
  });
});

describe('a sign-in code', () => {
  test('signs in once, even if two requests use it at the same time', async () => {
    nextMinute();
    const code = await issueCode();
    const answers = await Promise.all([postSession(app, { code }), postSession(app, { code })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401]);
    const [good] = answers.filter(({ status }) => status === 204);
    const cookie = good ? cookieIn(good) : '';
    expect(await viewerBy(app, { ...ownHeaders(app), cookie })).toBe(tenant.accountId);
  });

  test('is valid for 15 minutes', async () => {
    nextMinute();
    const [early, late] = [await issueCode(), await issueCode()];
    now += 15 * MINUTE - 1;
    expect((await postSession(app, { code: early })).status).toBe(204);
    now += 1;
    expect((await postSession(app, { code: late })).status).toBe(401);
  });

  const inspect = (body: unknown, headers = ownHeaders(app)) =>
    fetch(`${app.url}/session/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('tells whom it signs in without being used up, and sets no cookie', async () => {
    nextMinute();
    const code = await issueCode();
    for (const _time of [1, 2]) {
      const answer = await inspect({ code });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
      expect(await answer.json()).toEqual({
        account: { id: tenant.accountId, name: 'Tenant' },
        key: { name: 'Key', prefix: tenant.apiKey.slice(0, 14) },
      });
    }
    expect((await postSession(app, { code })).status).toBe(204);
    expect((await inspect({ code })).status).toBe(401);
  });

  test('changes nothing by GET, and no page but the console’s inspects it', async () => {
    nextMinute();
    const code = await issueCode();
    for (const path of ['/', '/bots', '/sign-in']) {
      const answer = await fetch(`${app.url}${path}?code=${code}`, { headers: ownHeaders(app) });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
    }
    for (const path of ['/session', '/session/code'])
      expect((await fetch(`${app.url}${path}?code=${code}`)).status).toBe(404);
    for (const [, change] of FOREIGN) {
      const headers = change(ownHeaders(app));
      expect((await inspect({ code }, headers)).status).toBe(400);
      expect((await postSession(app, { code }, headers)).status).toBe(400);
    }
    expect((await inspect({ code: 1 })).status).toBe(400);
    expect((await postSession(app, { code })).status).toBe(204);
  });

  test('is not used up by a sign-in over the limit of its account', async () => {
    nextMinute();
    const free = await app.tenant({ plan: 'FREE' });
    const code = await app.issueSignInCode(await keyIdOf(free.apiKey));
    for (let count = 0; count < 9; count += 1) await app.graphql(free.apiKey, '{ __typename }');
    expect((await postSession(app, { code })).status).toBe(429);
    nextMinute();
    expect((await postSession(app, { code })).status).toBe(204);
  });

  test('ends with the console session that created it', async () => {
    nextMinute();
    const codeBy = async (cookie: string) => {
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { ...ownHeaders(app), 'content-type': 'application/json', cookie },
        body: '{"query": "mutation { createSignInCode { code } }"}',
      });
      return (await answer.json()).data.createSignInCode.code as string;
    };
    const [left, idle, open] = [
      await signIn(app, tenant.apiKey),
      await signIn(app, tenant.apiKey),
      await signIn(app, tenant.apiKey),
    ];
    const codes = [await codeBy(left), await codeBy(idle), await codeBy(open)];
    await fetch(`${app.url}/session`, {
      method: 'DELETE',
      headers: { ...ownHeaders(app), cookie: left },
    });
    await app.prisma.consoleSession.update({
      where: { hash: hash('sha256', idle.split('=')[1] ?? '') },
      data: { expiresAt: new Date(now) },
    });
    expect(await Promise.all(codes.map(async (code) => (await inspect({ code })).status))).toEqual([
      401, 401, 200,
    ]);
    expect(
      await Promise.all(codes.map(async (code) => (await postSession(app, { code })).status)),
    ).toEqual([401, 401, 204]);
  });

  test('ends with its key', async () => {
    nextMinute();
    const revoked = await tenant.key();
    const id = await keyIdOf(revoked);
    const code = await app.issueSignInCode(id);
    await tenant.graphql(`mutation { revokeApiKey(id: "${id}") { id } }`);
    expect((await inspect({ code })).status).toBe(401);
    expect((await postSession(app, { code })).status).toBe(401);
  });

  test('is stored only as a hash', async () => {
    const code = await issueCode();
    expect(JSON.stringify(await app.prisma.signInCode.findMany())).not.toContain(code);
  });
});

/** Requests that a page of another site, or no page at all, could send with the cookie. */
const FOREIGN: [string, (own: Record<string, string>) => Record<string, string>][] = [
  ['without the header', ({ 'x-parley-console': _, ...own }) => own],
  ['with another value of the header', (own) => ({ ...own, 'x-parley-console': 'true' })],
  ['from another origin', (own) => ({ ...own, origin: 'http://evil.example' })],
  ['from another port', (own) => ({ ...own, origin: 'http://127.0.0.1:1' })],
  [
    'from another scheme',
    (own) => ({ ...own, origin: own.origin?.replace('http', 'https') ?? '' }),
  ],
  ['from an origin with a path', (own) => ({ ...own, origin: `${own.origin}/` })],
  [
    'by a client that claims to be a trusted proxy',
    (own) => ({ ...own, origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }),
  ],
  ['from a sandboxed frame', (own) => ({ ...own, origin: 'null' })],
  ['across sites', (own) => ({ ...own, 'sec-fetch-site': 'cross-site' })],
  ['from another subdomain', (own) => ({ ...own, 'sec-fetch-site': 'same-site' })],
  ['from no page', (own) => ({ ...own, 'sec-fetch-site': 'none' })],
  ['without a header that identifies its origin', () => ({ 'x-parley-console': '1' })],
];

describe('the cookie', () => {
  let cookie: string;
  beforeAll(async () => {
    nextMinute();
    cookie = await signIn(app, tenant.apiKey);
  });

  test.each([
    ['Origin', (): Record<string, string> => ({ origin: app.url })],
    ['Sec-Fetch-Site', (): Record<string, string> => ({ 'sec-fetch-site': 'same-origin' })],
  ])('suffices with the header and %s alone', async (_name, sign) => {
    const headers = { 'x-parley-console': '1', ...sign(), cookie };
    expect(await viewerBy(app, headers)).toBe(tenant.accountId);
  });

  test.each(FOREIGN)('is ignored %s', async (_how, change) => {
    nextMinute();
    const headers = change(ownHeaders(app));
    expect(await viewerBy(app, { ...headers, cookie })).toBe('MISSING_API_KEY');
    expect((await postSession(app, { key: tenant.apiKey }, headers)).status).toBe(400);
    const left = await fetch(`${app.url}/session`, {
      method: 'DELETE',
      headers: { ...headers, cookie },
    });
    expect(left.status).toBe(400);
    expect(await viewerBy(app, { ...ownHeaders(app), cookie })).toBe(tenant.accountId);
  });

  test.each([
    ['the same value', (own: string) => `${own}; ${own}`],
    ['another value before', (own: string) => `parley_session=planted; ${own}`],
    ['another value behind, without a space', (own: string) => `${own};parley_session=planted`],
    ['an empty value', (own: string) => `${own}; parley_session=`],
    ['a space before the equals sign', (own: string) => `parley_session =planted; ${own}`],
  ])('is ignored if it comes twice: with %s', async (_what, twice) => {
    nextMinute();
    const headers = { ...ownHeaders(app), cookie: twice(cookie) };
    expect(await viewerBy(app, headers)).toBe('MISSING_API_KEY');
    await fetch(`${app.url}/session`, { method: 'DELETE', headers });
    const other = { ...ownHeaders(app), cookie: `theme=dark; ${cookie}; a=b=c` };
    expect(await viewerBy(app, other)).toBe(tenant.accountId);
  });

  test('is ignored if the request has a key', async () => {
    const other = await app.tenant();
    const headers = { ...ownHeaders(app), cookie, ...other.headers };
    expect(await viewerBy(app, headers)).toBe(other.accountId);
  });

  test.each([
    ['GET', '/v1/bots/any/runs'],
    ['POST', '/v1/bots/any/chat'],
  ])('is ignored for %s %s', async (method, path) => {
    nextMinute();
    const answer = await fetch(app.url + path, { method, headers: { ...ownHeaders(app), cookie } });
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual([401, 'missing_api_key']);
  });

  test('authenticates the events of a subscription until the sign-out', async () => {
    const bot = await tenant.bot();
    const own = await signIn(app, tenant.apiKey);
    const headers = { ...ownHeaders(app), cookie: own };
    app.upstream.script(async ({ say, end, closed }) => {
      say('Hello');
      await closed;
      end();
    });
    const url = `${app.url}/graphql/stream`;
    const client = createEventClient({ url, headers, retryAttempts: 0 });
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename } }`;
    const events = client.iterate({ query });
    expect(await events.next()).toMatchObject({ value: { data: { chat: {} } } });
    const left = await fetch(`${app.url}/session`, { method: 'DELETE', headers });
    expect(left.status).toBe(204);
    expect(left.headers.getSetCookie()[0]).toMatch(/^parley_session=; Max-Age=0; /);
    const rest = await Array.fromAsync(events);
    expect(rest.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_API_KEY' } }] });
    expect(await viewerBy(app, headers)).toBe('INVALID_API_KEY');
  });

  test('reserves a stream for many operations only with the header', async () => {
    const reserve = (headers: Record<string, string>) =>
      fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers: { ...headers, cookie } });
    expect((await reserve(ownHeaders(app))).status).toBe(201);
    expect((await reserve({ origin: app.url })).status).toBe(401);
  });

  /** Opens a socket with the cookie. @returns the type of the first message, or the code of the close. */
  const connect = async (headers: Record<string, string>) => {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', { headers });
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
    const outcome = await Promise.race([
      once(socket, 'message').then(([data]) => JSON.parse(String(data)).type as string),
      once(socket, 'close').then(([code]) => code as number),
    ]).catch(({ message }: Error) => message);
    return { socket, outcome };
  };

  test.each([
    ['its own origin', () => app.url, 'connection_ack'],
    ['another origin', () => 'http://evil.example', 'Unexpected server response: 403'],
    ['no origin', () => undefined, 4401],
  ])('opens a WebSocket from its own origin only: %s', async (_which, originOf, expected) => {
    nextMinute();
    const origin = originOf();
    const { socket, outcome } = await connect({ cookie, ...(origin && { origin }) });
    expect(outcome).toBe(expected);
    socket.terminate();
  });

  test('closes its WebSockets at the sign-out', async () => {
    const own = await signIn(app, tenant.apiKey);
    const { socket, outcome } = await connect({ cookie: own, origin: app.url });
    expect(outcome).toBe('connection_ack');
    const closed = once(socket, 'close');
    const headers = { ...ownHeaders(app), cookie: own };
    await fetch(`${app.url}/session`, { method: 'DELETE', headers });
    expect((await closed)[0]).toBe(4403);
  });
});

describe('a session ends', () => {
  test('12 hours after its last use', async () => {
    const cookie = await signIn(app, tenant.apiKey);
    const headers = { ...ownHeaders(app), cookie };
    const expiresAt = async () => {
      const rows = await app.prisma.consoleSession.findMany({ orderBy: { expiresAt: 'desc' } });
      return rows[0]?.expiresAt.getTime();
    };
    now += 12 * HOUR - MINUTE;
    expect(await viewerBy(app, headers)).toBe(tenant.accountId);
    await expect.poll(expiresAt).toBe(now + 12 * HOUR);
    now += 12 * HOUR - 1;
    expect(await viewerBy(app, headers)).toBe(tenant.accountId);
    await expect.poll(expiresAt).toBe(now + 12 * HOUR);
    now += 12 * HOUR;
    expect(await viewerBy(app, headers)).toBe('INVALID_API_KEY');
  });

  test('with its open streams, but not with the open streams of a session in use', async () => {
    const bot = await tenant.bot();
    const late = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Hello');
      await late.promise;
      end();
    });
    const url = `${app.url}/graphql/stream`;
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename } }`;
    const chat = async (cookie: string) => {
      const headers = { ...ownHeaders(app), cookie };
      const events = createEventClient({ url, headers, retryAttempts: 0 }).iterate({ query });
      expect(await events.next()).toMatchObject({ value: { data: { chat: {} } } });
      return events;
    };
    const cookie = await signIn(app, tenant.apiKey);
    const [idle, used] = [await chat(cookie), await chat(await signIn(app, tenant.apiKey))];
    await app.prisma.consoleSession.update({
      where: { hash: hash('sha256', cookie.split('=')[1] ?? '') },
      data: { expiresAt: new Date(now) },
    });
    const rest = await Array.fromAsync(idle);
    expect(rest.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_API_KEY' } }] });
    late.resolve();
    expect((await Array.fromAsync(used)).at(-1)).toMatchObject({
      data: { chat: { __typename: 'ChatDone' } },
    });
  });

  test('7 days after the sign-in, regardless of use', async () => {
    const signedIn = now;
    const headers = { ...ownHeaders(app), cookie: await signIn(app, tenant.apiKey) };
    while (now + 6 * HOUR < signedIn + 7 * DAY) {
      now += 6 * HOUR;
      const until = Math.min(now + 12 * HOUR, signedIn + 7 * DAY);
      // A use is recorded after the response, so a later request may have to record it.
      await expect
        .poll(async () => {
          expect(await viewerBy(app, headers)).toBe(tenant.accountId);
          return app.prisma.consoleSession.count({ where: { expiresAt: new Date(until) } });
        })
        .toBe(1);
    }
    now = signedIn + 7 * DAY;
    expect(await viewerBy(app, headers)).toBe('INVALID_API_KEY');
  });

  test('when its key is revoked or expires', async () => {
    const revoked = await tenant.key();
    const expiring = await tenant.key({ expiresAt: new Date(now + HOUR) });
    const [first, second] = [await signIn(app, revoked), await signIn(app, expiring)];
    await tenant.graphql(`mutation { revokeApiKey(id: "${await keyIdOf(revoked)}") { id } }`);
    const own = ownHeaders(app);
    expect(await viewerBy(app, { ...own, cookie: first })).toBe('INVALID_API_KEY');
    expect(await viewerBy(app, { ...own, cookie: second })).toBe(tenant.accountId);
    now += HOUR;
    expect(await viewerBy(app, { ...own, cookie: second })).toBe('INVALID_API_KEY');
  });
});

describe('the reads of the console', () => {
  const viewer = { documentId: Viewer.documentId, variables: {} };
  const rename = (id: string) => ({
    documentId: RenameBot.documentId,
    variables: { id, name: 'Bot' },
  });

  /** An account on the plan Free, signed in to the console. */
  const freeAccount = async () => {
    nextMinute();
    const free = await app.tenant({ plan: 'FREE' });
    const cookie = await signIn(app, free.apiKey);
    /** @returns the status and the remaining requests of the account. */
    const send = async (body: object, headers: Record<string, string> = { cookie }) => {
      const response = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...ownHeaders(app), ...headers },
        body: JSON.stringify(body),
      });
      const { errors } = (await response.json()) as GraphQLAnswer;
      const code = errors?.[0]?.extensions.code ?? 'OK';
      return { code, left: Number(response.headers.get('x-ratelimit-remaining')) };
    };
    return { free, send };
  };

  test('do not count against the account, and its headers show the quota of the account', async () => {
    const { send } = await freeAccount();
    const { left } = await send(viewer);
    expect(left).toBeLessThanOrEqual(10);
    for (let sent = 0; sent < 20; sent += 1)
      expect(await send(viewer)).toEqual({ code: 'OK', left });
  });

  test('count as everywhere if they change something, have a text of their own or come from a key', async () => {
    const { free, send } = await freeAccount();
    const bot = await free.bot();
    const { left } = await send(viewer);
    const bearer = { authorization: `Bearer ${free.apiKey}` };
    expect(await send(rename(bot))).toEqual({ code: 'OK', left: left - 1 });
    expect(await send({ query: '{ viewer { account { id } } }' })).toMatchObject({
      left: left - 2,
    });
    expect(await send(viewer, bearer)).toMatchObject({ left: left - 3 });
    const chat = {
      documentId: ChatWhole.documentId,
      variables: { botId: bot, input: { message: 'Hi' } },
    };
    expect(await send(chat)).toMatchObject({ left: left - 4 });
  });

  test('are at most 600 a minute for a session', async () => {
    const { send } = await freeAccount();
    const codes = await Promise.all(
      Array.from({ length: 601 }, async () => (await send(viewer)).code),
    );
    expect(codes.filter((code) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(1);
    nextMinute();
    expect((await send(viewer)).code).toBe('OK');
  });
});
