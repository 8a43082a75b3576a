import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { createClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createLimits } from '../../src/accounts/limits.ts';
import { createMemoryCounter } from '../../src/coordination/fixed-window-counter.ts';
import { toGatewayError } from '../../src/errors/mask.ts';
import { MAX_BODY_BYTES } from '../../src/transport/body-memory.ts';
import { createLimiter } from '../../src/transport/rate-limit.ts';
import { decorateAdmission } from '../../src/transport/request-admission.ts';
import { type GraphQLAnswer, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { postSession } from '../helpers/console.ts';
import { testDatabase } from '../helpers/database.ts';
import { linkRedis } from '../helpers/redis.ts';
import { openSocket, requestText } from '../helpers/wire.ts';

const MINUTE = 60;
/** The diagnostics channel on which Node.js publishes each request with its socket. */
const REQUEST_START = 'http.server.request.start';
let now = Date.UTC(2026, 10, 20, 12) / 1_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now * 1_000 });
});

/** Starts a new rate-limit minute for each test. */
beforeEach(() => {
  now += MINUTE;
});

const limitOf = ({ headers }: Response) => ({
  limit: Number(headers.get('x-ratelimit-limit')),
  remaining: Number(headers.get('x-ratelimit-remaining')),
  reset: Number(headers.get('x-ratelimit-reset')),
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers });

const list = (tenant: Tenant, bot: string) => get(`/v1/bots/${bot}/deployments`, tenant.headers);

describe('the rate-limit headers of the REST interface', () => {
  let tenant: Tenant;
  let bot: string;
  beforeAll(async () => {
    tenant = await app.tenant({ requestsPerMinute: 100 });
    bot = await tenant.bot();
  });
  const left = (remaining: number) => ({ limit: 100, remaining, reset: now + MINUTE });

  test('are sent with a whole or a streamed chat', async () => {
    const whole = await tenant.chat(bot, { message: 'Hi' });
    expect([whole.status, limitOf(whole)]).toEqual([200, left(99)]);
    const streamed = await tenant.chat(
      bot,
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    await streamed.text();
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(limitOf(streamed)).toEqual(left(98));
  });

  test('are sent with every refusal, which costs 1 request', async () => {
    const foreign = await (await app.tenant()).bot();
    const answers = [
      await tenant.chat(bot, {}),
      await tenant.chat(foreign, { message: 'Hi' }),
      await tenant.chat('no-such-bot', { message: 'Hi' }),
      await get('/v1/nothing', tenant.headers),
      await get('/v1', tenant.headers),
      await get('/v1/bots/%E0%A4%A/runs', tenant.headers),
      await fetch(`${app.url}/v1/bots/${bot}/chat`, {
        method: 'POST',
        headers: tenant.headers,
        body: '{',
      }),
    ];
    expect(answers.map((answer) => [answer.status, limitOf(answer)])).toEqual([
      [400, left(99)],
      [403, left(98)],
      [404, left(97)],
      [404, left(96)],
      [404, left(95)],
      [400, left(94)],
      [400, left(93)],
    ]);
  });

  test('are sent with an internal error, with or without a known caller', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(500).end();
    });
    const failed = await tenant.chat(bot, { message: 'Hi' });
    expect([failed.status, limitOf(failed)]).toEqual([500, left(99)]);

    const database = await testDatabase();
    const broken = await startApp({
      clock: () => now * 1_000,
      database: {
        ...database,
        prisma: new Proxy(database.prisma, {
          get: (target, name, receiver) => {
            if (name === 'apiKey') throw new Error('gone');
            return Reflect.get(target, name, receiver);
          },
        }),
      },
    });
    const lost = await fetch(`${broken.url}/v1/bots/${bot}/chat`, {
      method: 'POST',
      headers: tenant.headers,
    });
    expect([lost.status, limitOf(lost)]).toEqual([
      500,
      { limit: 30, remaining: 30, reset: now + MINUTE },
    ]);
  });

  test('are not required if counting itself fails, even for an invalid URL', async () => {
    const broken = await startApp({
      clock: () => {
        throw new Error('gone');
      },
    });
    for (const path of ['/v1/nothing', '/v1/%zz']) {
      const lost = await fetch(broken.url + path);
      expect([lost.status, await lost.json()]).toMatchObject([
        500,
        { error: { code: 'internal_error' } },
      ]);
    }
  });

  test('are sent for input that is not HTTP', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    expect(await text(socket)).toMatch(
      new RegExp(
        `^HTTP/1.1 400 .*X-RateLimit-Limit: 30\\r\\nX-RateLimit-Remaining: 29\\r\\nX-RateLimit-Reset: ${now + MINUTE}\\r\\n`,
        's',
      ),
    );
  });

  test('are the same for a percent-encoded path', async () => {
    const answer = await get(`/%76%31/bots/${bot}/deployments`, tenant.headers);
    expect([answer.status, limitOf(answer)]).toEqual([200, left(99)]);
  });

  test('are not sent outside it, where requests cost nothing', async () => {
    for (const path of ['/healthz', '/v10', '/nothing']) {
      expect((await get(path, tenant.headers)).headers.has('x-ratelimit-limit')).toBe(false);
    }
    expect(limitOf(await list(tenant, bot))).toEqual(left(99));
  });
});

describe('an exhausted limit', () => {
  test('refuses with 429 and Retry-After, and refusals cost nothing', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const bot = await tenant.bot();
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await list(tenant, bot)).status).toBe(200);
    }
    now += 20;
    const refused = await tenant.chat('no-such-bot', {});
    expect(refused.status).toBe(429);
    expect(limitOf(refused)).toEqual({ limit: 10, remaining: 0, reset: now + 40 });
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(await refused.json()).toEqual({
      error: {
        code: 'rate_limit_exceeded',
        message: 'Too many requests. Wait 40 seconds.',
        retry_after: 40,
        request_id: refused.headers.get('x-request-id'),
      },
    });
    now += 40;
    expect(limitOf(await list(tenant, bot))).toMatchObject({ remaining: 9 });
  });

  test('is shared by all keys of the account', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const other = { authorization: `Bearer ${await tenant.key()}` };
    await get('/v1/nothing', tenant.headers);
    expect(limitOf(await get('/v1/nothing', other))).toMatchObject({ remaining: 8 });
  });

  test('still returns 404 for an unknown route', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 1 });
    await get('/v1/nothing', tenant.headers);
    const unknown = await get('/v1/nothing', tenant.headers);
    expect([unknown.status, limitOf(unknown).remaining]).toEqual([404, 0]);
  });

  test('has the reset time of the day if the daily limit is exhausted', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100, requestsPerDay: 1 });
    const midnight = Math.ceil(now / 86_400) * 86_400;
    const last = await get('/v1/nothing', tenant.headers);
    expect(limitOf(last)).toEqual({ limit: 100, remaining: 0, reset: midnight });
    const refused = await list(tenant, 'any');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { retry_after: midnight - now } });
  });
});

describe('a client without a valid key', () => {
  const guess = () => get('/v1/bots/any/deployments', { authorization: `Bearer ${makeApiKey()}` });

  test('may send 30 requests a minute from one address', async () => {
    for (let left = 29; left >= 0; left -= 1) {
      const answer = await (left % 2 ? guess() : get('/v1/bots/any/deployments'));
      expect([answer.status, limitOf(answer)]).toEqual([
        401,
        { limit: 30, remaining: left, reset: now + MINUTE },
      ]);
    }
    const refused = await guess();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  test.each(['/v1/bots/any/runs', '/v1/%zz'])(
    'counts at %s even if it disconnects before the response',
    async (path) => {
      const { app, errors, go } = await startHeld();
      await go(() => requestText(`GET ${path}`, { authorization: `Bearer ${makeApiKey()}` }));
      const next = await fetch(`${app.url}/v1/bots/any/runs`);
      expect([errors, limitOf(next).remaining]).toEqual([[], 28]);
    },
  );

  test('counts once, without an internal error, if it disconnects before a GraphQL response', async () => {
    const { app, errors, go } = await startHeld();
    const headers = {
      authorization: `Bearer ${makeApiKey()}`,
      'content-type': 'application/json',
    };
    await go(() => requestText('POST /graphql', headers, '{"query": "{ __typename }"}'));
    const next = await fetch(`${app.url}/v1/bots/any/runs`);
    expect([errors, next.status, limitOf(next).remaining]).toEqual([[], 401, 28]);
  });

  test('leaves no memory reserved for bodies that it breaks off during the lookup', async () => {
    const { app, go } = await startHeld(4);
    await go(() =>
      requestText('POST /graphql', {
        authorization: `Bearer ${makeApiKey()}`,
        'content-type': 'application/json',
        'content-length': String(MAX_BODY_BYTES),
      }),
    );
    const answer = await app.graphql('', '{ __typename }');
    expect(answer).toEqual({ data: { __typename: 'Query' } });
  });

  test('is not assumed for the limit of a body while keys cannot be looked up', async () => {
    const limits = createLimits({
      accounts: createMemoryCounter(),
      addresses: createMemoryCounter(),
    });
    const authenticate = () => Promise.reject(new Error('The database is away.'));
    const limiter = createLimiter({ authenticate, limits });
    const server = Fastify();
    decorateAdmission(server);
    server.post('/graphql', limiter.bodyLimits);
    server.setErrorHandler((error, _request, reply) => reply.send(toGatewayError(error).code));
    const answer = await server.inject({ method: 'POST', url: '/graphql' });
    expect(answer.body).toBe('internal_error');
  });

  test('does not block clients with a valid key from its address', async () => {
    for (let sent = 0; sent < 31; sent += 1) await guess();
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    const answer = await list(tenant, await tenant.bot());
    expect([answer.status, limitOf(answer).limit]).toEqual([200, 100]);
  });
});

describe('an address over its limit', () => {
  /** An app, and the number of its lookups of keys and sign-in codes. */
  const startCounted = async () => {
    const database = await testDatabase();
    let statements = 0;
    const counted = <Model extends object>(model: Model) =>
      new Proxy(model, {
        get(target, name, receiver) {
          if (name === 'findUnique') statements += 1;
          return Reflect.get(target, name, receiver);
        },
      });
    const apiKey = counted(database.prisma.apiKey);
    const signInCode = counted(database.prisma.signInCode);
    const prisma = new Proxy(database.prisma, {
      get: (target, name) => {
        if (name === 'apiKey') return apiKey;
        return name === 'signInCode' ? signInCode : Reflect.get(target, name);
      },
    });
    const app = await startApp({ clock: () => now * 1_000, database: { ...database, prisma } });
    const send = (path: string, headers: Record<string, string>, method = 'GET') =>
      fetch(app.url + path, { method, headers });
    return { app, send, statements: () => statements };
  };
  const guessed = () => ({ authorization: `Bearer ${makeApiKey()}` });

  test('causes no key lookups, and does not block a valid key', async () => {
    const { send, statements } = await startCounted();
    for (let sent = 0; sent < 30; sent += 1) await send('/v1/nothing', guessed());
    const before = statements();
    const tenant = await app.tenant();
    const valid = send(`/v1/bots/${await tenant.bot()}/runs`, tenant.headers);
    const guesses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send(`/v1/bots/b${index}/runs`, guessed())),
    );
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([429]));
    expect((await valid).status).toBe(200);
    expect(statements() - before).toBe(0);
    now += MINUTE;
    const next = await send('/v1/nothing', guessed());
    expect(next.headers.get('x-ratelimit-remaining')).toBe('29');
  });

  test('causes no lookups by sign-ins, and does not block a valid key or code', async () => {
    const { app, send, statements } = await startCounted();
    const tenant = await app.tenant();
    const { data } = await tenant.graphql('mutation { createSignInCode { code } }');
    for (let sent = 0; sent < 30; sent += 1) await send('/v1/nothing', guessed());
    const before = statements();
    const guesses = Array.from({ length: 40 }, (_, index) =>
      postSession(app, index % 2 ? { key: makeApiKey() } : { code: `guess-${index}` }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(statements() - before).toBe(0);
    expect((await postSession(app, { key: tenant.apiKey })).status).toBe(204);
    expect((await postSession(app, { code: data.createSignInCode.code })).status).toBe(204);
  });

  test('causes no lookups at routes that need no key', async () => {
    const { app, statements } = await startCounted();
    const headers = { ...guessed(), 'content-type': 'application/json' };
    for (const path of ['/session', '/chat/none/session'])
      await fetch(app.url + path, { method: 'POST', headers, body: '{}' });
    expect(statements()).toBe(0);
  });

  test('cannot reserve connections, and gets Retry-After', async () => {
    const reserve = (headers: Record<string, string>) =>
      fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers });
    for (let left = 29; left >= 0; left -= 1) {
      const { status, headers } = await reserve(left % 2 ? guessed() : {});
      expect([status, headers.get('x-ratelimit-remaining')]).toEqual([401, String(left)]);
    }
    const refused = await reserve(guessed());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 } }],
    });
    const tenant = await app.tenant();
    expect((await reserve(tenant.headers)).status).toBe(201);
  });
});

/** An app that finds no key, after the test lets the lookups of its clients finish. */
async function startHeld(clients = 1) {
  const database = await testDatabase();
  const lookupsStarted = Promise.withResolvers<void>();
  const found = Promise.withResolvers<null>();
  let lookups = 0;
  const findUnique = () => {
    lookups += 1;
    if (lookups === clients) lookupsStarted.resolve();
    return found.promise;
  };
  const prisma = new Proxy(database.prisma, {
    get: (target, name) => (name === 'apiKey' ? { findUnique } : Reflect.get(target, name)),
  });
  const errors: string[] = [];
  const app = await startApp({
    clock: () => now * 1_000,
    database: { ...database, prisma },
    log: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
  });
  return {
    app,
    errors,
    /** Sends a request from each client, and disconnects before the lookup of its key finishes. */
    async go(makeRequest: () => string) {
      const sockets = Array.from({ length: clients }, () => openSocket(app.url));
      const closed: Promise<void>[] = [];
      const served = (message: unknown) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        (message as { socket: Socket }).socket.once('close', resolve);
        closed.push(promise);
      };
      subscribe(REQUEST_START, served);
      for (const socket of sockets) socket.write(makeRequest());
      await lookupsStarted.promise;
      unsubscribe(REQUEST_START, served);
      for (const socket of sockets) socket.resetAndDestroy();
      await Promise.all(closed);
      found.resolve(null);
    },
  };
}

/** Runs an operation over each streaming transport. @returns the last result of each. */
async function everyStream(tenant: Tenant, query: string, variables = {}) {
  const operation = { query, variables };
  const headers = { Authorization: tenant.headers.authorization };
  const url = `${app.url}/graphql/stream`;
  const distinct = createClient({ url, headers, retryAttempts: 0 });
  const single = createClient({ url, headers, singleConnection: true, retryAttempts: 0 });
  const socket = createSocketClient({ url: app.webSocketUrl, connectionParams: headers });
  const last = async (results: AsyncIterable<unknown>) =>
    (await Array.fromAsync(results)).at(-1) as GraphQLAnswer;
  const answers = {
    distinct: await last(distinct.iterate(operation)),
    single: await last(single.iterate(operation)),
    socket: await last(socket.iterate(operation)).catch((errors) => ({ data: null, errors })),
  };
  single.dispose();
  await socket.dispose();
  return Object.entries(answers);
}

/** The same, and over plain HTTP. */
const everyTransport = async (tenant: Tenant, query: string) => [
  ['http', await tenant.graphql(query)] as const,
  ...(await everyStream(tenant, query)),
];

describe('a GraphQL operation', () => {
  const remaining = async (tenant: Tenant) =>
    limitOf(await get('/v1/nothing', tenant.headers)).remaining;

  test.each([
    ['one field', '{ bots { edges { node { id name } } } }', 1],
    ['aliased fields', '{ a: bots { edges { cursor } } b: bots { edges { cursor } } }', 2],
    [
      'the fields of each spread of a fragment',
      'query { ...F ...F ... { bots { edges { cursor } } } } fragment F on Query { ...G viewer { account { id } } } fragment G on Query { __typename bots { edges { cursor } } }',
      6,
    ],
    [
      'fields that are skipped',
      '{ bots { edges { cursor } } viewer @skip(if: true) { account { id } } }',
      2,
    ],
    ['introspection fields', '{ __schema { queryType { name } } __type(name: "Bot") { name } }', 1],
    [
      'a mutation',
      'mutation { a: createBot(input: { name: "A" }) { id } b: createBot(input: { name: "B" }) { id } }',
      2,
    ],
  ])('counts %s, equally over every transport', async (_what, query, cost) => {
    const tenant = await app.tenant({ requestsPerMinute: 1_000 });
    for (const [way, { errors }] of await everyTransport(tenant, query)) {
      expect([way, errors]).toEqual([way, undefined]);
    }
    expect(await remaining(tenant)).toBe(1_000 - 4 * cost - 1);
  });

  test('counts a stream once, regardless of its number of events', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 1_000 });
    const botId = await tenant.bot();
    app.upstream.script(({ say, end }) => {
      for (const word of ['One ', 'two ', 'three.']) say(word);
      end();
    });
    const query =
      'subscription ($botId: ID!) { chat(botId: $botId, input: { message: "Hi" }) { __typename } }';
    for (const [way, { data }] of await everyStream(tenant, query, { botId })) {
      expect([way, data]).toEqual([way, { chat: { __typename: 'ChatDone' } }]);
    }
    expect(await remaining(tenant)).toBe(1_000 - 3 - 1);
  });

  test('over the remaining limit does not run on any transport, and costs nothing', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    for (let sent = 0; sent < 98; sent += 1) await get('/v1/nothing', tenant.headers);
    const query =
      'mutation { a: createBot(input: { name: "A" }) { id } b: createBot(input: { name: "B" }) { id } c: createBot(input: { name: "C" }) { id } }';
    for (const [way, { data, errors }] of await everyTransport(tenant, query)) {
      expect([way, data ?? null, errors]).toEqual([
        way,
        null,
        [
          {
            message: 'Too many requests. Wait 60 seconds.',
            extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 },
          },
        ],
      ]);
    }
    expect(await app.prisma.bot.count({ where: { accountId: tenant.accountId } })).toBe(0);
    expect(await remaining(tenant)).toBe(1);
  });

  test('over the whole limit gets an error with the limit', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const fields = Array.from(
      { length: 11 },
      (_, index) => `f${index}: __typename b${index}: bots { edges { cursor } }`,
    );
    const { errors } = await tenant.graphql(`{ ${fields.join(' ')} }`);
    expect(errors?.[0]?.message).toMatch(
      /^The operation counts as 12 requests, but the limit is 10 per minute/,
    );
  });

  test('with multiplying fragments counts each spread', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const fragments = Array.from(
      { length: 9 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    const last = 'fragment F9 on Query { bots { edges { cursor } } }';
    const { errors } = await tenant.graphql(`{ ...F0 } ${fragments.join(' ')} ${last}`);
    expect(errors?.[0]?.extensions.code).toBe('RATE_LIMIT_EXCEEDED');
  });

  test('has rate-limit headers, and status 429 for clients that accept GraphQL’s media type', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 1 });
    const post = (path: string, accept: string) =>
      fetch(app.url + path, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json', accept },
        body: '{"query": "{ bots { edges { cursor } } }"}',
      });
    const first = await post('/graphql', 'application/json');
    expect([first.status, limitOf(first)]).toEqual([
      200,
      { limit: 1, remaining: 0, reset: now + MINUTE },
    ]);
    const json = await post('/graphql', 'application/json');
    expect([json.status, json.headers.get('retry-after')]).toEqual([200, '60']);
    const graphql = await post('/graphql', 'application/graphql-response+json');
    expect([graphql.status, graphql.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await graphql.json()).toEqual({
      errors: [
        {
          message: 'Too many requests. Wait 60 seconds.',
          extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 },
        },
      ],
    });
    const stream = await post('/graphql/stream', 'text/event-stream');
    expect(limitOf(stream)).toEqual({ limit: 1, remaining: 0, reset: now + MINUTE });
    await stream.text();
  });

  test('without a key counts against the address', async () => {
    const send = () =>
      fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query": "{ viewer { account { id } } }"}',
      });
    for (let left = 29; left >= 0; left -= 1) expect(limitOf(await send()).remaining).toBe(left);
    expect(await (await send()).json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    const response = await fetch(`${app.url}/v1/bots/any/deployments`);
    expect(response.status).toBe(429);
  });

  test('can read its own rate limit, for its own cost', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100, requestsPerDay: 1_000 });
    const query =
      '{ viewer { rateLimit { perMinute perDay remainingMinute remainingDay resetAt } } }';
    const ways = await everyTransport(tenant, query);
    expect(ways.map(([, { data }]) => data.viewer.rateLimit)).toEqual(
      [99, 98, 97, 96].map((left) => ({
        perMinute: 100,
        perDay: 1_000,
        remainingMinute: left,
        remainingDay: 900 + left,
        resetAt: new Date((now + MINUTE) * 1_000).toISOString(),
      })),
    );
  });

  test('of the REST interface is not counted twice', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    const chat = await tenant.chat(await tenant.bot(), { message: 'Hi' });
    expect(limitOf(chat).remaining).toBe(99);
    expect(await remaining(tenant)).toBe(98);
  });

  test('over a WebSocket counts connection attempts with a wrong key', async () => {
    const Authorization = `Bearer ${makeApiKey()}`;
    for (let sent = 0; sent < 30; sent += 1) {
      const socket = createSocketClient({
        url: app.webSocketUrl,
        connectionParams: { Authorization },
        retryAttempts: 0,
      });
      await Array.fromAsync(socket.iterate({ query: '{ __typename }' })).catch(() => {});
      await socket.dispose();
    }
    expect((await get('/v1/bots/any/deployments')).status).toBe(429);
  });
});

describe.skipIf(!inject('redisUrl'))('two replicas with one Redis', () => {
  const replica = async () => {
    const link = await linkRedis();
    return { ...link, app: await startApp({ redis: link.redis }) };
  };

  test('allow exactly 10 of 40 requests if the limit is 10', async () => {
    const replicas = await Promise.all([replica(), replica()]);
    // The daily limit, so that no change of minute interferes.
    const tenant = await app.tenant({ requestsPerMinute: 1_000, requestsPerDay: 10 });
    const bot = await tenant.bot();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { url } = (index % 2 ? replicas[0] : replicas[1]).app;
        const { headers } = tenant;
        return (await fetch(`${url}/v1/bots/${bot}/deployments`, { headers })).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });

  test('continue without Redis from the counts that they know, and report the missing dependency', async () => {
    const [one, other] = await Promise.all([replica(), replica()]);
    const tenant = await app.tenant({ requestsPerMinute: 1_000, requestsPerDay: 5 });
    const bot = await tenant.bot();
    const chat = (at: TestApp) =>
      fetch(`${at.url}/v1/bots/${bot}/chat`, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json' },
        body: '{"message": "Hi"}',
      });
    expect(limitOf(await chat(one.app)).remaining).toBe(4);
    expect(limitOf(await chat(other.app)).remaining).toBe(3);
    expect((await fetch(`${one.app.url}/readyz`)).status).toBe(200);

    await one.cut();
    const alone = await chat(one.app);
    // It does not know the chat that the other one has counted.
    expect([alone.status, limitOf(alone).remaining]).toEqual([200, 3]);
    expect(await (await fetch(`${one.app.url}/readyz`)).json()).toEqual({
      status: 'unavailable',
      missing: ['redis'],
    });

    await one.restore();
    expect(limitOf(await chat(one.app)).remaining).toBe(2);
  });
});
