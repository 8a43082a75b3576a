import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createSealedClaims } from '../../../src/accounts/sealed-claims.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { askAsVisitor, codeOf, postVisit, say, updateBot, visit, WEB } from './visitors.ts';

const HOUR_MS = 3_600_000;
const PUBLIC_URL = 'https://bots.example/parley';

let now = Date.UTC(2026, 10, 20, 12);
let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp({ clock: () => now, trustProxy: ['127.0.0.1'], publicUrl: PUBLIC_URL });
  tenant = await app.tenant();
});

/** Starts a new hour for each test, at its beginning: the limits count in whole hours. */
beforeEach(async () => {
  now = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  bot = await tenant.bot(WEB);
});

/** A page of the bot's own server, on a device with this address. */
const from = (address: string) => ({ origin: app.url, 'x-forwarded-for': address });

const messagesOf = (id: string, session = '') =>
  `{ bot(id: "${id}") { session${session} { sessionId messages { edges { node { role text } } } } } }`;

describe('a visit of a chat page', () => {
  test('chats in a session of its own, whose runs have the channel WEB and no key', async () => {
    const { token, expiresAt, resume } = await visit(app, bot);
    expect(Date.parse(expiresAt)).toBe(now + HOUR_MS);
    expect(resume).not.toBe(token);
    const { data } = await say(app, bot, token);
    expect(data.chat).toMatchObject({ sessionId: expect.stringMatching(/^web:[\w-]{24}$/) });
    const run = await app.prisma.run.findUniqueOrThrow({ where: { id: data.chat.runId } });
    expect([run.channel, run.keyId, run.sessionId]).toEqual(['WEB', null, data.chat.sessionId]);
  });

  test('reads its own messages without naming its session, and no memory', async () => {
    const { token } = await visit(app, bot);
    expect((await askAsVisitor(app, token, messagesOf(bot))).data).toEqual({
      bot: { session: null },
    });
    const { sessionId } = (await say(app, bot, token)).data.chat;
    const { data } = await askAsVisitor(app, token, messagesOf(bot));
    expect(data.bot.session.sessionId).toBe(sessionId);
    expect(
      data.bot.session.messages.edges.map(({ node }: { node: { role: string } }) => node.role),
    ).toEqual(['USER', 'ASSISTANT']);
    const memory = `{ bot(id: "${bot}") { session { memory { value } } } }`;
    expect(codeOf(await askAsVisitor(app, token, memory))).toBe('INSUFFICIENT_SCOPE');
  });

  test('reads the content of the page', async () => {
    const { token } = await visit(app, bot);
    const { data } = await askAsVisitor(
      app,
      token,
      `{ bot(id: "${bot}") { chatPage { name welcome suggestions } } }`,
    );
    expect(data.bot.chatPage).toEqual({
      name: 'Test',
      welcome: 'Hi! Ask me about an order.',
      suggestions: ['Where is my order?', 'I want to return something'],
    });
  });

  test('deletes its conversation, which the audit log notes without a key', async () => {
    const { token, resume } = await visit(app, bot);
    const { sessionId } = (await say(app, bot, token)).data.chat;
    const other = await visit(app, bot);
    const forget = `mutation { forgetSession(botId: "${bot}", sessionId: "${sessionId}") }`;
    expect(codeOf(await askAsVisitor(app, other.token, forget))).toBe('INSUFFICIENT_SCOPE');
    expect((await askAsVisitor(app, token, forget)).data).toEqual({ forgetSession: true });
    const again = await visit(app, bot, resume);
    expect((await askAsVisitor(app, again.token, messagesOf(bot))).data.bot.session).toBeNull();
    const entry = await app.prisma.auditEntry.findFirstOrThrow({
      where: { botId: bot, action: 'FORGET_SESSION' },
    });
    expect([entry.accountId, entry.keyId]).toEqual([tenant.accountId, null]);
  });

  test('is continued by its signed resume token, and by no other one', async () => {
    const first = await visit(app, bot);
    const { sessionId } = (await say(app, bot, first.token)).data.chat;
    now += 2 * HOUR_MS;
    expect(codeOf(await say(app, bot, first.token))).toBe('INVALID_API_KEY');
    const second = await visit(app, bot, first.resume);
    expect((await say(app, bot, second.token)).data.chat.sessionId).toBe(sessionId);

    const other = await tenant.bot(WEB);
    const claims = z.object({ bot: z.string(), session: z.string() });
    const sealed = createSealedClaims({
      secretKeys: [Buffer.alloc(32, 8)],
      audience: 'parley-visit',
      claims,
    });
    const forged = await sealed.seal({ bot, session: sessionId }, now / 1_000 + 60);
    for (const [id, resume] of [
      [bot, forged],
      [bot, first.token],
      [bot, sessionId],
      [other, first.resume],
    ] as const) {
      const answer = await postVisit(app, id, { resume });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({
          error: expect.objectContaining({
            details: [{ path: 'resume', message: 'is not valid or has expired' }],
          }),
        }),
      ]);
    }
    now += 181 * 24 * HOUR_MS;
    expect((await postVisit(app, bot, { resume: second.resume })).status).toBe(400);
  });

  test('has no access to other sessions, bots and fields', async () => {
    const { token, resume } = await visit(app, bot);
    const other = await tenant.bot(WEB);
    expect(codeOf(await say(app, other, token))).toBe('BOT_ACCESS_DENIED');
    const outcomes = [];
    for (const query of [
      messagesOf(bot, '(id: "user-1")'),
      messagesOf(bot, '(environment: STAGING)'),
      `mutation { chat(botId: "${bot}", input: { message: "Hi", sessionId: "web:x" }) { response } }`,
      `mutation { chat(botId: "${bot}", input: { message: "Hi", environment: STAGING }) { response } }`,
      `mutation { setMemory(botId: "${bot}", sessionId: "x", name: "a", value: "b") { id } }`,
      `{ bot(id: "${bot}") { webOrigins } }`,
      '{ viewer { account { id } } }',
      '{ bots { edges { cursor } } }',
    ])
      outcomes.push(codeOf(await askAsVisitor(app, token, query)));
    expect(outcomes).toEqual(outcomes.map(() => 'INSUFFICIENT_SCOPE'));
    const overRest = await fetch(`${app.url}/v1/bots/${bot}/runs`, {
      headers: { authorization: `Bearer ${token}`, origin: app.url },
    });
    expect(overRest.status).toBe(401);
    expect(codeOf(await say(app, bot, resume))).toBe('INVALID_API_KEY');
  });

  test('ends with the channel, the bot and the account', async () => {
    const closed = await tenant.bot(WEB);
    const { token } = await visit(app, closed);
    const source = 'agentlang 5 agent "Test" { description "d" prompt "p" }';
    await tenant.graphql(
      `mutation ($source: String!) { deploy(botId: "${closed}", input: { source: $source }) { id } }`,
      { source },
    );
    expect(codeOf(await say(app, closed, token))).toBe('INVALID_API_KEY');

    const suspended = await app.tenant();
    const theirs = await suspended.bot(WEB);
    const visitor = await visit(app, theirs);
    await app.prisma.account.update({
      where: { id: suspended.accountId },
      data: { suspendedAt: new Date() },
    });
    expect(codeOf(await say(app, theirs, visitor.token))).toBe('INVALID_API_KEY');
    expect((await postVisit(app, theirs)).status).toBe(404);
  });

  test('looks the same for a bot without a chat page as for no bot', async () => {
    const hidden = await tenant.bot();
    const staged = await tenant.bot(null);
    const bodies = [];
    for (const id of [hidden, staged, makeId('bot'), 'a%20b']) {
      const answer = await postVisit(app, id, {}, from(`192.0.2.${bodies.length}`));
      const { error } = (await answer.json()) as { error: { request_id: string } };
      bodies.push([answer.status, { ...error, request_id: '' }]);
    }
    expect(bodies).toEqual(
      bodies.map(() => [
        404,
        { code: 'not_found', message: 'There is no chat page here.', request_id: '' },
      ]),
    );
  });

  test('refuses a body of another form', async () => {
    const answer = await postVisit(app, bot, { resume: 1, sessionId: 'x' });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request' } },
    ]);
  });
});

describe('the origin of a visitor', () => {
  const SHOP = 'https://shop.example';
  const foreign = { origin: 'https://other.example' };

  test('is the own host, the public URL or one of the bot’s webOrigins', async () => {
    const { token } = await visit(app, bot);
    const outcomes = async (headers: Record<string, string>) => {
      const visited = await postVisit(app, bot, {}, headers);
      return [visited.status, codeOf(await say(app, bot, token, headers)) ?? 'OK'];
    };
    const allowed = [200, 'OK'];
    const refused = [403, 'BOT_ACCESS_DENIED'];
    expect(await outcomes({ origin: app.url })).toEqual(allowed);
    expect(await outcomes({ origin: 'https://bots.example' })).toEqual(allowed);
    for (const headers of [{}, foreign, { origin: 'null' }, { origin: SHOP }])
      expect(await outcomes(headers)).toEqual(refused);
    await updateBot(tenant, bot, { webOrigins: [SHOP] });
    expect(await outcomes({ origin: SHOP })).toEqual(allowed);
    expect(await outcomes(foreign)).toEqual(refused);
    await updateBot(tenant, bot, { webOrigins: ['*'] });
    expect(await outcomes(foreign)).toEqual(allowed);
    expect(await outcomes({})).toEqual(refused);
  });

  test('is refused with the settings to check behind a proxy', async () => {
    const { token } = await visit(app, bot);
    const visited = await postVisit(app, bot, {}, foreign);
    const said = await say(app, bot, token, foreign);
    for (const answer of [await visited.json(), said])
      expect(JSON.stringify(answer)).toContain('Behind a proxy, set TRUST_PROXY or PUBLIC_URL.');
  });

  test('is checked on every GraphQL transport', async () => {
    const { token } = await visit(app, bot);
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename } }`;
    const headers = { authorization: `Bearer ${token}` };
    const overEvents = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers,
      retryAttempts: 0,
    });
    const [event] = await Array.fromAsync(overEvents.iterate({ query }));
    expect(event).toMatchObject({ errors: [{ extensions: { code: 'BOT_ACCESS_DENIED' } }] });
    const reserved = await fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers });
    expect(reserved.status).toBe(403);
    const overSocket = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${token}` },
      retryAttempts: 0,
    });
    await expect(Array.fromAsync(overSocket.iterate({ query }))).rejects.toMatchObject({
      code: 4403,
    });
  });
});

describe('the limits of visitors', () => {
  test('allow 20 new sessions an hour from an address, and any number of further visits', async () => {
    const { resume } = await visit(app, bot);
    const answers = await Promise.all(Array.from({ length: 30 }, () => postVisit(app, bot)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(19);
    now += HOUR_MS / 2;
    const refused = await postVisit(app, bot);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1800']);
    expect((await refused.json()) as object).toMatchObject({
      error: {
        code: 'rate_limit_exceeded',
        retry_after: 1_800,
        message: 'Too many new conversations from this address. Wait 30 minutes.',
      },
    });
    await visit(app, bot, resume);
    expect((await postVisit(app, bot, {}, from('192.0.2.7'))).status).toBe(200);
    await visit(app, await tenant.bot(WEB));
    now += HOUR_MS / 2;
    await visit(app, bot);
  });

  test('count a refused new session against its address', async () => {
    await updateBot(tenant, bot, { visitorSessionsPerHour: 1 });
    const page = from('192.0.2.9');
    expect((await postVisit(app, bot, {}, page)).status).toBe(200);
    const remaining = [];
    for (let sent = 0; sent < 30; sent += 1) {
      const { status, headers } = await postVisit(app, bot, {}, page);
      expect(status).toBe(429);
      remaining.push(Number(headers.get('x-ratelimit-remaining')));
    }
    expect(remaining).toEqual(Array.from({ length: 30 }, (_, index) => 29 - index));
    const { error } = (await (await postVisit(app, bot, {}, page)).json()) as {
      error: { message: string };
    };
    expect(error.message).toBe('Too many requests. Wait 60 seconds.');
  });

  test('allow 20 messages a minute from an address, over all of its sessions', async () => {
    const tokens = await Promise.all([1, 2, 3].map(async () => (await visit(app, bot)).token));
    now += 20_000;
    const answers = await Promise.all(
      Array.from({ length: 27 }, (_, at) => say(app, bot, tokens[at % 3] ?? '')),
    );
    const refused = answers.filter((answer) => codeOf(answer) === 'RATE_LIMIT_EXCEEDED');
    expect(refused).toHaveLength(7);
    expect(refused[0]?.errors?.[0]).toMatchObject({
      message: 'Too many messages from this address. Wait 40 seconds.',
      extensions: { retryAfter: 40 },
    });
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(20);
    expect((await say(app, bot, tokens[0] ?? '', from('192.0.2.8'))).errors).toBeUndefined();
    // The search for the run of a message that was stopped is no message.
    const search = `mutation { chat(botId: "${bot}", input: { message: "Hi", idempotencyKey: "k", replayOnly: true }) { runId } }`;
    expect(codeOf(await askAsVisitor(app, tokens[0] ?? '', search))).toBe('RUN_NOT_FOUND');
    now += 40_000;
    expect((await say(app, bot, tokens[0] ?? '')).errors).toBeUndefined();
  });

  test('are exact for 80 visitors at once', async () => {
    await updateBot(tenant, bot, { visitorSessionsPerHour: 3, visitorMessagesPerMinute: 2 });
    const visitors = Array.from({ length: 80 }, (_, at) => from(`198.51.100.${at % 20}`));
    const visits = await Promise.all(visitors.map((headers) => postVisit(app, bot, {}, headers)));
    expect(visits.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(visits.filter(({ status }) => status === 429)).toHaveLength(20);
    const tokens = await Promise.all(
      visits.map(async (answer) =>
        answer.ok ? ((await answer.json()) as { token: string }).token : '',
      ),
    );
    const chats = await Promise.all(
      tokens.map((token, at) => (token ? say(app, bot, token, visitors[at]) : undefined)),
    );
    expect(chats.filter((answer) => answer?.data?.chat)).toHaveLength(40);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(40);
  });

  test('allow 50 operations a minute from an address, so that the account has requests left for others', async () => {
    const pro = await app.tenant({ requestsPerMinute: 60 });
    const theirs = await pro.bot(WEB);
    const { token } = await visit(app, theirs);
    const read = (headers?: Record<string, string>) =>
      askAsVisitor(app, token, messagesOf(theirs), headers);
    const answers = await Promise.all(Array.from({ length: 70 }, () => read()));
    const refused = answers.filter((answer) => codeOf(answer) === 'RATE_LIMIT_EXCEEDED');
    expect(refused).toHaveLength(21);
    expect(codeOf(await say(app, theirs, token))).toBe('RATE_LIMIT_EXCEEDED');
    expect((await postVisit(app, theirs)).status).toBe(429);
    expect((await read(from('192.0.2.10'))).errors).toBeUndefined();
    now += 60_000;
    expect((await read()).errors).toBeUndefined();
  });

  test('leave the account’s plan above all', async () => {
    const small = await app.tenant({ requestsPerMinute: 2 });
    const theirs = await small.bot(WEB);
    const { token } = await visit(app, theirs);
    expect((await say(app, theirs, token)).errors).toBeUndefined();
    expect(codeOf(await say(app, theirs, token, from('192.0.2.9')))).toBe('RATE_LIMIT_EXCEEDED');
    expect((await postVisit(app, theirs, {}, from('192.0.2.9'))).status).toBe(429);
  });
});

describe('the settings of a chat page', () => {
  const read = async () =>
    (
      await tenant.graphql(
        `{ bot(id: "${bot}") { webUrl webOrigins visitorSessionsPerHour visitorMessagesPerMinute chatPage { name } } }`,
      )
    ).data.bot;

  test('are no origins and 20 of each by default', async () => {
    expect(await read()).toEqual({
      webUrl: `${PUBLIC_URL}/chat/${bot}`,
      webOrigins: [],
      visitorSessionsPerHour: 20,
      visitorMessagesPerMinute: 20,
      chatPage: { name: 'Test' },
    });
    bot = await tenant.bot();
    expect(await read()).toMatchObject({ chatPage: null });
  });

  test('change one by one', async () => {
    await updateBot(tenant, bot, { webOrigins: ['https://shop.example', 'https://shop.example'] });
    await updateBot(tenant, bot, { visitorSessionsPerHour: 5 });
    await updateBot(tenant, bot, { visitorMessagesPerMinute: 6, name: 'Desk' });
    expect((await updateBot(tenant, bot, {})).bot).toEqual({
      name: 'Desk',
      webOrigins: ['https://shop.example'],
      visitorSessionsPerHour: 5,
      visitorMessagesPerMinute: 6,
    });
  });

  test('name every problem', async () => {
    const { details } = await updateBot(tenant, bot, {
      name: '',
      webOrigins: ['*', 'shop.example', 'https://shop.example/', 'https://shop.example'],
      visitorSessionsPerHour: 0,
      visitorMessagesPerMinute: 100_001,
    });
    const origin = 'must be an origin, such as https://shop.example, or *';
    expect(details).toEqual([
      { path: 'input.name', message: 'must not be empty' },
      { path: 'input.webOrigins.1', message: origin },
      { path: 'input.webOrigins.2', message: origin },
      { path: 'input.visitorSessionsPerHour', message: 'must be at least 1' },
      { path: 'input.visitorMessagesPerMinute', message: 'must be at most 100,000' },
    ]);
  });
});

test('a token of the owner’s backend for the widget marks its runs with the channel WEB', async () => {
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "user-1", channel: WEB }) { token } }`,
  );
  const { token } = data.createSessionToken;
  const answer = await say(app, bot, token, {});
  const run = await app.prisma.run.findUniqueOrThrow({ where: { id: answer.data.chat.runId } });
  expect([run.channel, run.sessionId]).toEqual(['WEB', 'user-1']);
  expect((await askAsVisitor(app, token, messagesOf(bot))).data.bot.session.sessionId).toBe(
    'user-1',
  );
  const { errors } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "user-1", channel: TELEGRAM }) { token } }`,
  );
  expect(errors?.[0]?.extensions.details).toEqual([
    { path: 'input.channel', message: 'must be API or WEB' },
  ]);
});
