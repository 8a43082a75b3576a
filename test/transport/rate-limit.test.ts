import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { type GraphQLAnswer, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { linkRedis } from '../helpers/redis.ts';
import { openSocket, requestText } from '../helpers/wire.ts';

const MINUTE = 60;
/** Where Node.js says of each request that comes which socket it comes by. */
const REQUEST_START = 'http.server.request.start';
let now = Date.UTC(2026, 10, 20, 12) / 1_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now * 1_000 });
});

/** A minute that nothing was counted in. */
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

describe('every answer of the REST interface says what is left', () => {
  let tenant: Tenant;
  let bot: string;
  beforeAll(async () => {
    tenant = await app.tenant({ requestsPerMinute: 100 });
    bot = await tenant.bot();
  });
  const left = (remaining: number) => ({ limit: 100, remaining, reset: now + MINUTE });

  test('a chat, whole or streamed', async () => {
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

  test('a refusal, of whatever kind: it costs 1 like any other', async () => {
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

  test('an error of ours, before and after it is known who asks', async () => {
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

  test('an error of ours in counting, also at an address that is none', async () => {
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

  test('what is no HTTP request at all', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    expect(await text(socket)).toMatch(
      new RegExp(
        `^HTTP/1.1 400 .*X-RateLimit-Limit: 30\\r\\nX-RateLimit-Remaining: 29\\r\\nX-RateLimit-Reset: ${now + MINUTE}\\r\\n`,
        's',
      ),
    );
  });

  test('a path that is written in another way is the same one', async () => {
    const answer = await get(`/%76%31/bots/${bot}/deployments`, tenant.headers);
    expect([answer.status, limitOf(answer)]).toEqual([200, left(99)]);
  });

  test('what is no part of it says nothing, and costs nothing', async () => {
    for (const path of ['/healthz', '/v10', '/nothing']) {
      expect((await get(path, tenant.headers)).headers.has('x-ratelimit-limit')).toBe(false);
    }
    expect(limitOf(await list(tenant, bot))).toEqual(left(99));
  });
});

describe('a plan that is used up', () => {
  test('refuses with 429, says when to come back, and costs nothing more', async () => {
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

  test('is one for all keys of the account', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const other = { authorization: `Bearer ${await tenant.key()}` };
    await get('/v1/nothing', tenant.headers);
    expect(limitOf(await get('/v1/nothing', other))).toMatchObject({ remaining: 8 });
  });

  test('still tells an unknown route from one that there is', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 1 });
    await get('/v1/nothing', tenant.headers);
    const unknown = await get('/v1/nothing', tenant.headers);
    expect([unknown.status, limitOf(unknown).remaining]).toEqual([404, 0]);
  });

  test('points at the next day where it is the day that is spent', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100, requestsPerDay: 1 });
    const midnight = Math.ceil(now / 86_400) * 86_400;
    const last = await get('/v1/nothing', tenant.headers);
    expect(limitOf(last)).toEqual({ limit: 100, remaining: 0, reset: midnight });
    const refused = await list(tenant, 'any');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { retry_after: midnight - now } });
  });
});

describe('who has no valid key', () => {
  const guess = () => get('/v1/bots/any/deployments', { authorization: `Bearer ${makeApiKey()}` });

  test('may ask 30 times a minute from one address, and is told', async () => {
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
    'counts at %s also where nobody waits for the answer',
    async (path) => {
      const { app, errors, go } = await startHeld();
      await go(requestText(`GET ${path}`, { authorization: `Bearer ${makeApiKey()}` }));
      const next = await fetch(`${app.url}/v1/bots/any/runs`);
      expect([errors, limitOf(next).remaining]).toEqual([[], 28]);
    },
  );

  test('and does not wait for the answer of GraphQL is no error of ours', async () => {
    const { app, errors, go } = await startHeld();
    const headers = {
      authorization: `Bearer ${makeApiKey()}`,
      'content-type': 'application/json',
    };
    await go(requestText('POST /graphql', headers, '{"query": "{ __typename }"}'));
    const next = await fetch(`${app.url}/v1/bots/any/runs`);
    expect([errors, next.status]).toEqual([[], 401]);
  });

  test('keeps nobody out who has one', async () => {
    for (let sent = 0; sent < 31; sent += 1) await guess();
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    const answer = await list(tenant, await tenant.bot());
    expect([answer.status, limitOf(answer).limit]).toEqual([200, 100]);
  });
});

describe('an address beyond its limit', () => {
  /** An app, and how many statements ask for one key. */
  const startCounted = async () => {
    const database = await testDatabase();
    let statements = 0;
    const apiKey = new Proxy(database.prisma.apiKey, {
      get(target, name, receiver) {
        if (name === 'findUnique') statements += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const prisma = new Proxy(database.prisma, {
      get: (target, name) => (name === 'apiKey' ? apiKey : Reflect.get(target, name)),
    });
    const app = await startApp({ clock: () => now * 1_000, database: { ...database, prisma } });
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      fetch(app.url + path, { method, headers });
    return { ask, statements: () => statements };
  };
  const guessed = () => ({ authorization: `Bearer ${makeApiKey()}` });

  test('costs no look-up for each key that it guesses, and keeps no valid key out', async () => {
    const { ask, statements } = await startCounted();
    for (let sent = 0; sent < 30; sent += 1) await ask('/v1/nothing', guessed());
    const before = statements();
    const tenant = await app.tenant();
    const valid = ask(`/v1/bots/${await tenant.bot()}/runs`, tenant.headers);
    const guesses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => ask(`/v1/bots/b${index}/runs`, guessed())),
    );
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([429]));
    expect((await valid).status).toBe(200);
    expect(statements() - before).toBe(0);
    now += MINUTE;
    const next = await ask('/v1/nothing', guessed());
    expect(next.headers.get('x-ratelimit-remaining')).toBe('29');
  });

  test('reserves no connection, and is told so', async () => {
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

/** An app that knows no key, and takes its time to say so. */
async function startHeld() {
  const database = await testDatabase();
  const asked = Promise.withResolvers<void>();
  const found = Promise.withResolvers<null>();
  const findUnique = () => {
    asked.resolve();
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
    /** Sends a request, and has gone, as the server knows too, before its key is found or not. */
    async go(request: string) {
      const socket = openSocket(app.url);
      const closed = Promise.withResolvers<void>();
      const served = (message: unknown) =>
        (message as { socket: Socket }).socket.once('close', closed.resolve);
      subscribe(REQUEST_START, served);
      socket.write(request);
      await asked.promise;
      unsubscribe(REQUEST_START, served);
      socket.resetAndDestroy();
      await closed.promise;
      found.resolve(null);
    },
  };
}

/** One operation by each way of streaming. @returns the last of what came back. */
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

/** The same, and by plain HTTP. */
const everyWay = async (tenant: Tenant, query: string) => [
  ['http', await tenant.graphql(query)] as const,
  ...(await everyStream(tenant, query)),
];

describe('a GraphQL operation', () => {
  const remaining = async (tenant: Tenant) =>
    limitOf(await get('/v1/nothing', tenant.headers)).remaining;

  test.each([
    ['one field', '{ bots { edges { node { id name } } } }', 1],
    [
      'fields under other names',
      '{ a: bots { edges { cursor } } b: bots { edges { cursor } } }',
      2,
    ],
    [
      'fields of fragments, as often as they are written',
      'query { ...F ...F ... { bots { edges { cursor } } } } fragment F on Query { ...G viewer { account { id } } } fragment G on Query { __typename bots { edges { cursor } } }',
      6,
    ],
    [
      'fields that are skipped',
      '{ bots { edges { cursor } } viewer @skip(if: true) { account { id } } }',
      2,
    ],
    [
      'questions about the schema',
      '{ __schema { queryType { name } } __type(name: "Bot") { name } }',
      1,
    ],
    [
      'a mutation',
      'mutation { a: createBot(input: { name: "A" }) { id } b: createBot(input: { name: "B" }) { id } }',
      2,
    ],
  ])('counts %s, by every way the same', async (_what, query, cost) => {
    const tenant = await app.tenant({ requestsPerMinute: 1_000 });
    for (const [way, { errors }] of await everyWay(tenant, query)) {
      expect([way, errors]).toEqual([way, undefined]);
    }
    expect(await remaining(tenant)).toBe(1_000 - 4 * cost - 1);
  });

  test('counts a stream once, however much it says', async () => {
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

  test('that does not fit runs not at all, by no way, and costs nothing', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    for (let sent = 0; sent < 98; sent += 1) await get('/v1/nothing', tenant.headers);
    const query =
      'mutation { a: createBot(input: { name: "A" }) { id } b: createBot(input: { name: "B" }) { id } c: createBot(input: { name: "C" }) { id } }';
    for (const [way, { data, errors }] of await everyWay(tenant, query)) {
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

  test('that could never fit is told so', async () => {
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

  test('whose fragments multiply is counted as often as they are spread', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const fragments = Array.from(
      { length: 9 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    const last = 'fragment F9 on Query { bots { edges { cursor } } }';
    const { errors } = await tenant.graphql(`{ ...F0 } ${fragments.join(' ')} ${last}`);
    expect(errors?.[0]?.extensions.code).toBe('RATE_LIMIT_EXCEEDED');
  });

  test('says in its headers what is left, and 429 to those who know GraphQL’s media type', async () => {
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

  test('without a key counts for the address', async () => {
    const ask = () =>
      fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query": "{ viewer { account { id } } }"}',
      });
    for (let left = 29; left >= 0; left -= 1) expect(limitOf(await ask()).remaining).toBe(left);
    expect(await (await ask()).json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    const knock = await fetch(`${app.url}/v1/bots/any/deployments`);
    expect(knock.status).toBe(429);
  });

  test('finds what is left for the viewer, for the price of itself', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100, requestsPerDay: 1_000 });
    const query =
      '{ viewer { rateLimit { perMinute perDay remainingMinute remainingDay resetAt } } }';
    const ways = await everyWay(tenant, query);
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

  test('is not counted where the REST interface runs it', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 100 });
    const chat = await tenant.chat(await tenant.bot(), { message: 'Hi' });
    expect(limitOf(chat).remaining).toBe(99);
    expect(await remaining(tenant)).toBe(98);
  });

  test('of a WebSocket counts what knocks with a wrong key', async () => {
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

describe.skipIf(!inject('redisUrl'))('two replicas on one Redis', () => {
  const replica = async () => {
    const link = await linkRedis();
    return { ...link, app: await startApp({ redis: link.redis }) };
  };

  test('let exactly 10 of 40 requests through where 10 are allowed', async () => {
    const replicas = await Promise.all([replica(), replica()]);
    // By the day, so that no turn of a minute comes between.
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

  test('chat on without Redis, each by its own count, and say that it is missing', async () => {
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
    expect([alone.status, limitOf(alone).remaining]).toEqual([200, 4]);
    expect(await (await fetch(`${one.app.url}/readyz`)).json()).toEqual({
      status: 'unavailable',
      missing: ['redis'],
    });

    await one.restore();
    expect(limitOf(await chat(one.app)).remaining).toBe(2);
  });
});
