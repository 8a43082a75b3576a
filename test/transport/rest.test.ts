import { createConnection } from 'node:net';
import Fastify from 'fastify';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLifetime } from '../../src/async/lifetime.ts';
import { createOfflineModel } from '../../src/model/offline.ts';
import { createApp } from '../../src/start/app.ts';
import { serveHealth } from '../../src/transport/health.ts';
import {
  startApp,
  TEST_SECRET_KEY,
  type Tenant,
  type TestApp,
  testCipher,
} from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const streamed = { accept: 'text/event-stream' };

describe('POST /v1/bots/:id/chat', () => {
  test('responds with JSON unless stream is true and Accept names text/event-stream', async () => {
    const type = async (body: object, headers: Record<string, string>) =>
      (await tenant.chat(bot, { message: 'Hi', ...body }, headers)).headers.get('content-type');
    const json = 'application/json; charset=utf-8';
    expect(await type({}, {})).toBe(json);
    expect(await type({ stream: true }, {})).toBe(json);
    expect(await type({ stream: true }, { accept: '*/*' })).toBe(json);
    expect(await type({ stream: true }, { accept: 'text/event-stream;q=0' })).toBe(json);
    expect(await type({ stream: false }, streamed)).toBe(json);
    for (const accept of ['text/event-stream', 'application/json, Text/Event-Stream;q=0.5']) {
      expect(await type({ stream: true }, { accept })).toBe('text/event-stream');
    }
  });

  test('sends each delta immediately', async () => {
    const go = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('first');
      await go.promise;
      say('second');
      end();
    });
    const response = await tenant.chat(bot, { message: 'Hi', stream: true }, streamed);
    const reader = response.body?.getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await read()).toBe('data: {"delta":"first"}\n\n');
    go.resolve();
    expect(await read()).toContain('data: {"delta":"second"}\n\n');
    app.upstream.script(({ say, end }) => {
      for (const text of ['Hello', ' ', 'there.']) say(text);
      end();
    });
  });

  test('responds with an ordinary error to a stream that fails before its first delta', async () => {
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    const response = await tenant.chat(bot, { message: 'Hi', stream: true }, streamed);
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toMatchObject({ error: { code: 'model_error' } });
    app.upstream.script(({ say, end }) => {
      for (const text of ['Hello', ' ', 'there.']) say(text);
      end();
    });
  });

  test('accepts a session id in UTF-8', async () => {
    const id = (text: string) => Buffer.from(text).toString('latin1');
    for (const user of ['josé', 'josà', 'ユーザー']) {
      const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': id(user) });
      expect(await response.json()).toMatchObject({ session_id: user });
    }
  });

  test('closes the connection on invalid input during a stream, and writes no error into it', async () => {
    app.upstream.script(async ({ say, closed }) => {
      say('Well');
      await closed;
    });
    const body = '{"message": "Hi", "stream": true}';
    const { port, hostname } = new URL(app.url);
    const socket = createConnection(Number(port), hostname);
    socket.write(
      `POST /v1/bots/${bot}/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes('Well')) socket.write('NONSENSE\r\n\r\n');
    }
    expect(text).toContain('data: {"delta":"Well"}');
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    app.upstream.script(({ say, end }) => {
      for (const text of ['Hello', ' ', 'there.']) say(text);
      end();
    });
  });

  test.each([
    [
      'an upgrade to an unsupported protocol',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c',
    ],
    ['an unsupported expectation', 'Expect: the-impossible'],
  ])('ignores %s', async (_what, header) => {
    const body = '{"message": "Hi"}';
    const { port, hostname } = new URL(app.url);
    const socket = createConnection(Number(port), hostname);
    socket.write(
      `POST /v1/bots/${bot}/chat HTTP/1.1\r\nHost: x\r\n${header}\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes('tools_called')) socket.end();
    }
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('ignores unknown fields', async () => {
    expect((await tenant.chat(bot, { message: 'Hi', colour: 'blue' })).status).toBe(200);
  });

  test('echoes the caller’s X-Request-Id if it has 1 to 128 visible ASCII characters', async () => {
    const echoed = async (id: string) =>
      (await tenant.chat(bot, { message: 'Hi' }, { 'x-request-id': id })).headers.get(
        'x-request-id',
      );
    expect(await echoed('my-own/1')).toBe('my-own/1');
    expect(await echoed('x'.repeat(128))).toBe('x'.repeat(128));
    expect(await echoed('x'.repeat(129))).toMatch(/^req_/);
    expect(await echoed('with space')).toMatch(/^req_/);
  });

  test('sends no CORS header', async () => {
    const response = await tenant.chat(bot, { message: 'Hi' }, { origin: 'https://example.com' });
    const names = [...response.headers.keys()];
    expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('/v1/bots/:id/chat/stream', () => {
  const path = () => `${app.url}/v1/bots/${bot}/chat/stream`;

  test('streams by GET, without an Accept header', async () => {
    const response = await fetch(
      `${path()}?session_id=q-1&message=${encodeURIComponent('Hi & bye')}`,
      {
        headers: tenant.headers,
      },
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toContain('{"event":"done"');
    expect(app.upstream.requests.at(-1)?.body.messages.at(-1)?.content).toBe('Hi & bye');
    const id = response.headers.get('x-run-id') ?? '';
    expect((await app.prisma.run.findUnique({ where: { id } }))?.sessionId).toBe('q-1');
  });

  test('streams a chat body without an Accept header, regardless of `stream`', async () => {
    const response = await fetch(`${path()}?session_id=q-2`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Hi', stream: false }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toContain('{"event":"done"');
    const id = response.headers.get('x-run-id') ?? '';
    expect((await app.prisma.run.findUnique({ where: { id } }))?.sessionId).toBe('q-2');
  });
});

describe('health', () => {
  test('reports a live and ready process, without a key', async () => {
    expect(await (await fetch(`${app.url}/healthz`)).json()).toEqual({
      status: 'ok',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    const ready = await (await fetch(`${app.url}/readyz`)).json();
    // An app that an earlier file of the worker has left may still be alive in the same database, which is a warning.
    expect({ ...ready, warnings: undefined }).toEqual({ status: 'ready' });
  });

  test('is not ready before the database is seeded', async () => {
    await using lifetime = createLifetime();
    const { http, setReady } = await createApp({
      lifetime,
      database: await testDatabase(),
      cipher: testCipher,
      secretKeys: [TEST_SECRET_KEY],
      model: createOfflineModel({ pace: 0 }),
      log: pino({ level: 'silent' }),
      trustProxy: [],
      allowedHosts: [],
    });
    const before = await http.inject('/readyz');
    expect(before.statusCode).toBe(503);
    expect(before.json()).toEqual({ status: 'unavailable', missing: ['seed'] });
    setReady();
    expect((await http.inject('/readyz')).statusCode).toBe(200);
  });

  test('reports a process that is shutting down', async () => {
    const http = Fastify();
    await http.register(serveHealth, { dependencies: () => ({}), isClosing: () => true });
    const response = await http.inject('/readyz');
    expect(response.statusCode).toBe(503);
    expect(response.json()).toEqual({ status: 'closing', missing: [] });
  });

  test('reports missing dependencies', async () => {
    const broken = await startApp({
      database: {
        ...(await testDatabase()),
        ping: () => Promise.reject(new Error('gone')),
      },
    });
    const response = await fetch(`${broken.url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'unavailable', missing: ['database'] });
    expect((await fetch(`${broken.url}/healthz`)).status).toBe(200);
  });
});
