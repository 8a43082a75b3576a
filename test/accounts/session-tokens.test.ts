import { randomBytes } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { EncryptJWT, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/accounts/caller.ts';
import { createSessionTokens } from '../../src/accounts/session-tokens.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const CREATE = `mutation ($input: CreateSessionTokenInput!) {
  createSessionToken(input: $input) { token expiresAt }
}`;
const CHAT = `mutation ($botId: ID!, $input: ChatInput!) {
  chat(botId: $botId, input: $input) { response sessionId runId run { id status sessionId } }
}`;

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  await tenant.bot('', 'STAGING');
});

const tokenFor = async (input: object = {}, key = tenant.apiKey): Promise<string> => {
  const { data, errors } = await app.graphql(key, CREATE, {
    input: { botId: bot, sessionId: 'user-1', ...input },
  });
  expect(errors).toBeUndefined();
  return data.createSessionToken.token;
};

const chat = (token: string, botId = bot, input: object = {}) =>
  app.graphql(token, CHAT, { botId, input: { message: 'Hi', ...input } });

const codeOf = ({ errors }: Awaited<ReturnType<typeof chat>>) => errors?.[0]?.extensions.code;

describe('a session token', () => {
  test('chats in its session without naming it', async () => {
    const token = await tokenFor();
    const { data } = await chat(token);
    expect(data.chat).toMatchObject({
      sessionId: 'user-1',
      run: { id: data.chat.runId, status: 'COMPLETED', sessionId: 'user-1' },
    });
    expect((await chat(token, bot, { sessionId: 'user-1' })).errors).toBeUndefined();
  });

  test('streams, follows and cancels runs of its session', async () => {
    const token = await tokenFor({ sessionId: 'user-2' });
    const client = createClient({
      url: app.webSocketUrl,
      connectionParams: { Authorization: `Bearer ${token}` },
    });
    const eventsOf = async (query: string) =>
      Array.fromAsync(
        client.iterate<Record<string, { __typename: string; runId: string }>>({ query }),
      );
    const events = await eventsOf(
      `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename ... on ChatDone { runId } } }`,
    );
    const done = events.at(-1)?.data?.chat;
    expect(done?.__typename).toBe('ChatDone');
    const again = await eventsOf(
      `subscription { runEvents(runId: "${done?.runId}") { __typename } }`,
    );
    expect(again).toHaveLength(events.length);
    const { data } = await app.graphql(
      token,
      `mutation { cancelRun(id: "${done?.runId}") { status } }`,
    );
    expect(data.cancelRun.status).toBe('COMPLETED');
    await client.dispose();
  });

  test('has no access to other sessions, environments and bots', async () => {
    const token = await tokenFor();
    const other = await tenant.bot();
    expect(codeOf(await chat(token, bot, { sessionId: 'user-9' }))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await chat(token, bot, { environment: 'STAGING' }))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await chat(token, other))).toBe('BOT_ACCESS_DENIED');
    const otherRun = await chat(tenant.apiKey, bot, { sessionId: 'user-9' });
    const { runId } = otherRun.data.chat;
    const cancel = await app.graphql(token, `mutation { cancelRun(id: "${runId}") { id } }`);
    expect(codeOf(cancel)).toBe('RUN_NOT_FOUND');
    const staging = await tokenFor({ sessionId: 'user-9', environment: 'STAGING' });
    const across = await app.graphql(staging, `mutation { cancelRun(id: "${runId}") { id } }`);
    expect(codeOf(across)).toBe('RUN_NOT_FOUND');
  });

  test.each([
    '{ viewer { account { id } } }',
    '{ viewer { usage { requestsToday } } }',
    '{ viewer { account { auditLog { edges { cursor } } } } }',
    '{ accounts { edges { cursor } } }',
    '{ bots { edges { cursor } } }',
    '{ node(id: "x") { id } }',
    '{ checkDefinition(source: "") { valid } }',
    'mutation { createSessionToken(input: { botId: "BOT", sessionId: "x" }) { token } }',
    'mutation { execute(botId: "BOT", input: { prompt: "x" }) { id } }',
    'mutation { setMemory(botId: "BOT", sessionId: "user-1", name: "a") { id } }',
    'mutation { chat(botId: "BOT", input: { message: "x" }) { run { bot { id } } } }',
    'mutation { chat(botId: "BOT", input: { message: "x" }) { run { ...on Node { ...f } } } } fragment f on Run { trace { traceId } }',
    'mutation { chat(botId: "BOT", input: { message: "x" }) { run { deployment { source } } } }',
  ])('cannot run %s', async (query) => {
    const { data, errors } = await app.graphql(await tokenFor(), query.replace('BOT', bot));
    expect(data).toBeUndefined();
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  const MESSAGES = `query ($botId: ID!, $id: String!, $environment: Environment) {
    bot(id: $botId) {
      session(id: $id, environment: $environment) {
        sessionId
        messages(first: 10) { edges { node { role text } } pageInfo { hasNextPage } }
      }
    }
  }`;

  test('reads the messages of its session, except tool results', async () => {
    const id = 'user-3';
    const token = await tokenFor({ sessionId: id });
    const { data } = await chat(token);
    const where = { runId: data.chat.runId };
    const { sessionKey } = await app.prisma.message.findFirstOrThrow({ where });
    await app.prisma.message.create({
      data: {
        id: 'msg_tool',
        sessionKey,
        ...where,
        turn: 2,
        position: 0,
        role: 'TOOL',
        text: 'A whole customer record',
      },
    });
    const read = await app.graphql(token, MESSAGES, { botId: bot, id });
    expect(read.data.bot.session).toEqual({
      sessionId: id,
      messages: {
        edges: [
          { node: { role: 'USER', text: 'Hi' } },
          { node: { role: 'ASSISTANT', text: data.chat.response } },
        ],
        pageInfo: { hasNextPage: false },
      },
    });
    const byKey = await tenant.graphql(MESSAGES, { botId: bot, id });
    expect(byKey.data.bot.session.messages.edges).toHaveLength(3);
  });

  test.each([
    ['another session', { id: 'user-9' }],
    ['its session in another environment', { environment: 'STAGING' }],
  ])('cannot read %s', async (_what, other) => {
    await chat(tenant.apiKey, bot, { sessionId: 'user-9' });
    const token = await tokenFor({ sessionId: 'user-3' });
    const read = await app.graphql(token, MESSAGES, { botId: bot, id: 'user-3', ...other });
    expect(codeOf(read)).toBe('INSUFFICIENT_SCOPE');
    expect(read.data?.bot?.session).toBeFalsy();
  });

  test('cannot read the memory of its session', async () => {
    const query = `{ bot(id: "${bot}") { session(id: "user-1") { memory { value } } } }`;
    const { data, errors } = await app.graphql(await tokenFor(), query);
    expect(data).toBeUndefined();
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('counts against the account', async () => {
    const small = await app.tenant({ requestsPerMinute: 3, requestsPerDay: 3 });
    const botId = await small.bot();
    const token = await tokenFor({ botId }, small.apiKey);
    const answers = [await chat(token, botId), await chat(token, botId), await chat(token, botId)];
    expect(answers.map(codeOf)).toEqual([undefined, undefined, 'RATE_LIMIT_EXCEEDED']);
  });

  test('is not accepted over REST', async () => {
    const response = await fetch(`${app.url}/v1/bots/${bot}/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenFor()}`,
        'content-type': 'application/json',
      },
      body: '{"message": "Hi"}',
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  test('ends with the key that created it', async () => {
    const key = await tenant.key({ scopes: ['CHAT'] });
    const token = await tokenFor({}, key);
    expect((await chat(token)).errors).toBeUndefined();
    const { data } = await app.graphql(key, '{ viewer { apiKey { id } } }');
    await tenant.graphql(`mutation { revokeApiKey(id: "${data.viewer.apiKey.id}") { id } }`);
    expect(codeOf(await chat(token))).toBe('INVALID_API_KEY');
  });

  test('never outlives the key that created it', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { data } = await app.graphql(await tenant.key({ expiresAt }), CREATE, {
      input: { botId: bot, sessionId: 'user-1' },
    });
    expect(Date.parse(data.createSessionToken.expiresAt)).toBe(
      Math.floor(expiresAt.getTime() / 1_000) * 1_000,
    );
  });

  test.each([
    [{ expiresIn: 3_601 }, 'INVALID_REQUEST'],
    [{ expiresIn: 0 }, 'INVALID_REQUEST'],
    [{ sessionId: 'two words' }, 'INVALID_REQUEST'],
    [{ botId: 'nobody' }, 'BOT_NOT_FOUND'],
  ])('cannot be created with %j', async (input, code) => {
    const answer = await tenant.graphql(CREATE, {
      input: { botId: bot, sessionId: 'user-1', ...input },
    });
    expect(answer.errors?.[0]?.extensions.code).toBe(code);
  });

  test('cannot be created by a key without the scope CHAT', async () => {
    const key = await tenant.key({ scopes: ['RUNS', 'ADMIN'] });
    const answer = await app.graphql(key, CREATE, { input: { botId: bot, sessionId: 'u' } });
    expect(answer.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('is refused if it was altered, or encrypted with another key', async () => {
    const token = await tokenFor();
    const [header = '', key = '', vector = '', text = '', tag = ''] = token.split('.');
    const flipped = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const claims = { bot, session: 'user-1', environment: 'PRODUCTION' };
    const forged = await new EncryptJWT(claims)
      .setAudience('parley-session')
      .setExpirationTime('1h')
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(randomBytes(32));
    const signed = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(randomBytes(32));
    for (const changed of [
      [header, key, vector, flipped(text), tag].join('.'),
      [header, key, flipped(vector), text, tag].join('.'),
      [header, key, vector, text, flipped(tag)].join('.'),
      [none, key, vector, text, tag].join('.'),
      forged,
      signed,
      `${none}.e30.`,
      'a.b.c',
      'a..b.c.d',
    ])
      expect(codeOf(await chat(changed))).toBe('INVALID_API_KEY');
  });
});

describe('the context of a session token', () => {
  /** The context of a run. */
  const contextOf = async (runId: string) =>
    (await app.prisma.run.findUniqueOrThrow({ where: { id: runId } })).context;
  const signed = { customer_id: 'c-1', plan: { name: 'gold' } };

  test('is added to every message, and its page can neither send nor read one', async () => {
    const token = await tokenFor({ context: signed });
    const { data } = await chat(token);
    expect(await contextOf(data.chat.runId)).toEqual(signed);
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(parts.join()).not.toMatch(/customer_id|user-1/);
    const sent = await chat(token, bot, { context: { customer_id: 'c-2' } });
    expect(sent.errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ path: 'input.context', message: expect.stringContaining('session token') }],
    });
  });

  test('cannot be sent by the page if the token has none', async () => {
    const token = await tokenFor();
    expect(codeOf(await chat(token, bot, { context: { customer_id: 'c-2' } }))).toBe(
      'INVALID_REQUEST',
    );
    const { data } = await chat(token, bot, { context: null });
    expect(await contextOf(data.chat.runId)).toBeNull();
  });

  test('overrides the page’s context if that is allowed', async () => {
    const token = await tokenFor({ context: signed, allowContext: true });
    const context = { customer_id: 'c-2', plan: { name: 'none', trial: true }, page: '/cart' };
    const { data } = await chat(token, bot, { context });
    expect(await contextOf(data.chat.runId)).toEqual({ ...signed, page: '/cart' });
    const open = await tokenFor({ allowContext: true });
    const other = await chat(open, bot, { context: { page: '/cart' } });
    expect(await contextOf(other.data.chat.runId)).toEqual({ page: '/cart' });
  });

  test('reaches the model instead of the page’s', async () => {
    const templated = await tenant.bot('prompt "Customer {{context.customer_id}}."');
    const token = await tokenFor({ botId: templated, context: signed, allowContext: true });
    await chat(token, templated, { context: { customer_id: 'c-2' } });
    const system = app.upstream.requests.at(-1)?.body.messages[0]?.content;
    expect(system).toContain('Customer c-1.');
    expect(system).not.toContain('c-2');
  });

  test('is an object of at most 4 KiB', async () => {
    const make = (context: unknown) =>
      tenant.graphql(CREATE, { input: { botId: bot, sessionId: 'user-1', context } });
    const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect((await make(ofSize(4_096))).errors).toBeUndefined();
    for (const context of [ofSize(4_097), 'text', ['list']])
      expect(codeOf(await make(context))).toBe('INVALID_REQUEST');
    const largest = await tokenFor({
      sessionId: '𝕏'.repeat(256),
      context: { a: '𝕏'.repeat(1_000) },
    });
    expect(codeOf(await chat(largest))).toBeUndefined();
  });
});

describe('session tokens', () => {
  const first = randomBytes(32);
  const second = randomBytes(32);
  const session = { botId: 'shop', sessionId: 'user-1', environment: 'STAGING' } as const;
  const issuerOf = async (): Promise<Caller> => {
    const key = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId },
      orderBy: { createdAt: 'asc' },
    });
    const account = await app.prisma.account.findUniqueOrThrow({ where: { id: tenant.accountId } });
    return { account, key: { ...key, expiresAt: null } };
  };

  test('stay valid while the secret key is rotated, until the old one is removed', async () => {
    const issuer = await issuerOf();
    const keys = { find: async () => issuer };
    const findVisited = async () => undefined;
    const old = createSessionTokens({ secretKeys: [first], keys, findVisited });
    const { token } = await old.issue(issuer, session, 60);
    const rotated = createSessionTokens({ secretKeys: [second, first], keys, findVisited });
    expect((await rotated.verify(token)).session).toEqual(session);
    const { token: newer } = await rotated.issue(issuer, session, 60);
    await expect(old.verify(newer)).rejects.toMatchObject({ code: 'invalid_api_key' });
    const after = createSessionTokens({ secretKeys: [second], keys, findVisited });
    expect((await after.verify(newer)).session).toEqual(session);
    await expect(after.verify(token)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  test('expire to the second', async () => {
    const issuer = await issuerOf();
    let now = Date.parse('2026-11-21T10:00:00Z');
    const keys = { find: async () => issuer };
    const findVisited = async () => undefined;
    const tokens = createSessionTokens({ secretKeys: [first], keys, findVisited, now: () => now });
    const { token, expiresAt } = await tokens.issue(issuer, session, 60);
    expect(expiresAt).toEqual(new Date('2026-11-21T10:01:00Z'));
    now += 59_999;
    await tokens.verify(token);
    now += 1;
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });
});
