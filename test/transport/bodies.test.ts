import { once } from 'node:events';
import type { Socket } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectedBot, startTelegramApp, type TelegramApp } from '../channels/telegram/setup.ts';
import { WEB } from '../channels/web/visitors.ts';
import { watchConnections } from '../helpers/accepted.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { ownHeaders } from '../helpers/console.ts';
import { readError } from '../helpers/documented.ts';
import { heapBytes } from '../helpers/leaks.ts';
import {
  answerTo,
  chunked,
  chunkedText,
  exchange,
  openSocket,
  readAnswers,
  requestText,
} from '../helpers/wire.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const MEBIBYTE = 1024 * 1024;

/** A clock with a new minute at each look, so that no rate limit is reached. */
const passingMinutes = () => {
  let now = Date.UTC(2030, 0, 1);
  return () => {
    now += 60_000;
    return now;
  };
};

type Reader = { line: string; headers: Record<string, string>; body: string; status: number };

/** A request for each route that reads a body, by its name. */
async function readersOf({ app, tenant, ...telegram }: TelegramApp) {
  app.upstream.script(({ say, end }) => {
    say('Hello.');
    end();
  });
  const bot = await tenant.bot(WEB);
  const { bot: telegramBot } = await connectedBot({ app, tenant, ...telegram });
  const webhook = telegramBot.webhook();
  const keyed = { ...JSON_TYPE, ...tenant.headers };
  const viewer = JSON.stringify({ query: '{ viewer { account { id } } }' });
  const readers: Record<string, Reader> = {
    'a chat': {
      line: `POST /v1/bots/${bot}/chat`,
      headers: keyed,
      body: JSON.stringify({ message: 'Grüße', context: { text: 'x'.repeat(3_000) } }),
      status: 200,
    },
    'a deploy as text': {
      line: `POST /v1/bots/${bot}/deploy`,
      headers: { ...tenant.headers, 'content-type': 'text/plain' },
      body: agent(`${WEB}\n  # ${'ü'.repeat(1_000)}`),
      status: 200,
    },
    GraphQL: { line: 'POST /graphql', headers: keyed, body: viewer, status: 200 },
    'GraphQL without a key': {
      line: 'POST /graphql',
      headers: JSON_TYPE,
      body: JSON.stringify({ query: `{ __typename } # ${'x'.repeat(2_000)}` }),
      status: 200,
    },
    'GraphQL over an event stream': {
      line: 'POST /graphql/stream',
      headers: { ...keyed, accept: 'text/event-stream' },
      body: viewer,
      status: 200,
    },
    'a reservation': { line: 'PUT /graphql/stream', headers: keyed, body: '{}', status: 201 },
    'a sign-in': {
      line: 'POST /session',
      headers: { ...JSON_TYPE, ...ownHeaders(app), host: new URL(app.url).host },
      body: JSON.stringify({ key: tenant.apiKey }),
      status: 204,
    },
    'a visit': {
      line: `POST /chat/${bot}/session`,
      headers: { ...JSON_TYPE, origin: app.url, host: new URL(app.url).host },
      body: `{}${' '.repeat(2_000)}`,
      status: 200,
    },
    'an update of Telegram': {
      line: `POST ${new URL(webhook?.url ?? '').pathname}`,
      headers: { ...JSON_TYPE, 'x-telegram-bot-api-secret-token': webhook?.secret ?? '' },
      body: JSON.stringify(telegramBot.text('Hi')),
      status: 200,
    },
  };
  return readers;
}

const NAMES = [
  'a chat',
  'a deploy as text',
  'GraphQL',
  'GraphQL without a key',
  'GraphQL over an event stream',
  'a reservation',
  'a sign-in',
  'a visit',
  'an update of Telegram',
];

/** @throws an error if there is no such reader. */
function find(readers: Record<string, Reader>, name: string): Reader {
  const reader = readers[name];
  if (!reader) throw new Error(`No reader: ${name}`);
  return reader;
}

describe('the body of', () => {
  let app: TestApp;
  let readers: Record<string, Reader>;
  beforeAll(async () => {
    const at = await startTelegramApp({ clock: passingMinutes() });
    ({ app } = at);
    readers = await readersOf(at);
    expect(Object.keys(readers)).toEqual(NAMES);
  });

  describe.each(NAMES)('%s', (name) => {
    test.each([1, 7, 1_000])('arrives in chunks of %i bytes', async (size) => {
      const { line, headers, body, status } = find(readers, name);
      const answer = await answerTo(app.url, chunkedText(line, headers, body, size));
      expect(answer.body).not.toMatch(/"errors?":/);
      expect(answer.status).toBe(status);
    });

    test('is forgotten if its client leaves', async () => {
      const { line, headers, body } = find(readers, name);
      const socket = openSocket(app.url);
      socket.write(chunkedText(line, headers, body, 1).subarray(0, -6));
      await expect.poll(app.openResponses).toBe(1);
      socket.destroy();
      await expect.poll(app.openResponses).toBe(0);
    });
  });
});

test('a body that does not arrive in time is refused, and its connection closed, on each route', async () => {
  const at = await startTelegramApp({
    clock: passingMinutes(),
    connectionLimits: { requestMs: 2_000 },
  });
  const readers = Object.entries(await readersOf(at));
  const answers = await Promise.all(
    readers.map(async ([name, { line, headers, body }]) => {
      const length = String(Buffer.byteLength(body));
      const bytes = requestText(line, { ...headers, 'content-length': length }) + body.slice(0, 1);
      const answer = await answerTo(at.app.url, bytes);
      return [name, answer.status, answer.body.includes('The request did not arrive in time.')];
    }),
  );
  expect(answers).toEqual(NAMES.map((name) => [name, 400, true]));
});

describe('bodies in very many pieces', () => {
  let app: TestApp;
  let tenant: Tenant;
  let bot: string;
  beforeAll(async () => {
    // On a slow machine, the caller with a key needs more than the usual second to authenticate.
    const connectionLimits = { graceMs: 60_000 };
    app = await startApp({ clock: passingMinutes(), connectionLimits });
    tenant = await app.tenant();
    bot = await tenant.bot();
  });

  /** Bytes of the heap and of buffers that remain after garbage collection. */
  const memory = async () => (await heapBytes()) + process.memoryUsage().arrayBuffers;

  test('hold less than 5 MB for 1 MiB, and are answered', async () => {
    const accepted = watchConnections(app);
    const socket = openSocket(app.url);
    onTestFinished(() => void socket.destroy());
    const body = JSON.stringify({ message: 'x'.repeat(MEBIBYTE - 14) });
    expect(body).toHaveLength(MEBIBYTE);
    const headers = { ...JSON_TYPE, ...tenant.headers };
    const bytes = chunkedText(`POST /v1/bots/${bot}/chat`, headers, body, 1);
    const end = bytes.subarray(-5);
    const before = await memory();
    const answer = once(socket, 'data');
    socket.write(bytes.subarray(0, -end.length));
    await expect.poll(() => accepted[0]?.bytesRead).toBe(bytes.length - end.length);
    expect((await memory()) - before).toBeLessThan(5e6);
    socket.write(end);
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('of 1,000 connections of one address keep out neither each other nor a caller with a key', async () => {
    const pieces = chunked('x'.repeat(2_000), 1).slice(0, -5);
    const accepted = watchConnections(app);
    const before = await memory();
    const flood = Array.from({ length: 1_000 }, () => {
      const socket = openSocket(app.url);
      onTestFinished(() => void socket.destroy());
      const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
      socket.write(requestText('POST /graphql', headers) + pieces);
      return socket;
    });
    expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);
    await expect.poll(() => accepted.length).toBeGreaterThan(flood.length);
    expect((await memory()) - before).toBeLessThan(100e6);
    expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);
  });

  test.each([
    ['its key', 1],
    ['a session token', 0],
  ] as const)(
    'delay its account’s other connections if they arrive with %s',
    async (what, pauses) => {
      const accepted = watchConnections(app);
      const viewer = JSON.stringify({ query: '{ __typename }' });
      /** Opens a connection that has had the response to a request with a key. */
      const authenticated = async (key: string) => {
        const socket = openSocket(app.url);
        onTestFinished(() => void socket.destroy());
        const headers = { ...JSON_TYPE, authorization: `Bearer ${key}`, connection: undefined };
        socket.write(requestText('POST /graphql', headers, viewer));
        await once(socket, 'data');
        return { socket, server: accepted.at(-1), headers };
      };
      const { data } = await tenant.graphql(
        `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "visitor" }) { token } }`,
      );
      const own = await authenticated(tenant.apiKey);
      const paused = vi.spyOn(own.server as Socket, 'pause');
      const other = await authenticated(
        what === 'its key' ? tenant.apiKey : data.createSessionToken.token,
      );
      const before = other.server?.bytesRead ?? 0;
      const body = 'x'.repeat(10_000);
      const bytes = chunkedText('POST /graphql', other.headers, body, 1).subarray(0, -5);
      other.socket.write(bytes);
      await expect.poll(() => other.server?.bytesRead).toBe(before + bytes.length);
      expect(paused.mock.calls).toHaveLength(pauses);
    },
  );
});

describe('a refused body', () => {
  let app: TestApp;
  let tenant: Tenant;
  let bot: string;
  let chat: string;
  beforeAll(async () => {
    app = await startApp({ clock: passingMinutes() });
    tenant = await app.tenant();
    bot = await tenant.bot();
    chat = `POST /v1/bots/${bot}/chat`;
  });
  const keyed = () => ({ ...JSON_TYPE, ...tenant.headers });

  /** Sends all bytes before it reads. */
  const sendThenRead = async (bytes: Buffer) => {
    const socket = openSocket(app.url).pause();
    onTestFinished(() => void socket.destroy());
    const sent = new Promise<unknown>((resolve) => socket.write(bytes, resolve));
    expect(await sent).toBeFalsy();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
    await Promise.race([once(socket, 'end'), once(socket, 'close')]);
    return readAnswers(Buffer.concat(chunks));
  };

  test.each([
    ['with a length', (body: string) => Buffer.from(requestText(chat, keyed(), body))],
    ['in chunks', (body: string) => chunkedText(chat, keyed(), body, 64 * 1024)],
  ])(
    '%s is received, so that its client reads the error, and its connection closes',
    async (_how, make) => {
      const body = JSON.stringify({ message: 'x'.repeat(8 * MEBIBYTE) });
      const [answer, ...more] = await sendThenRead(make(body));
      expect(more).toEqual([]);
      expect(answer && readError(answer)).toMatchObject({
        code: 'request_too_large',
        message: 'The body is larger than 1 MiB. Send a smaller one.',
      });
    },
  );

  test('of GraphQL without a valid key may have 64 KiB', async () => {
    const body = JSON.stringify({ query: `{ __typename } # ${'x'.repeat(64 * 1024)}` });
    const refused = await answerTo(app.url, requestText('POST /graphql', JSON_TYPE, body));
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body).errors).toEqual([
      {
        message: 'The body is larger than 64 KiB, the limit without a valid API key.',
        extensions: { code: 'REQUEST_TOO_LARGE' },
      },
    ]);
    expect((await answerTo(app.url, requestText('POST /graphql', keyed(), body))).status).toBe(200);
  });

  test('lets the next request of its connection be answered', async () => {
    const refused = requestText(chat, { ...JSON_TYPE, connection: undefined }, '{"message": "Hi"}');
    const bytes = refused + requestText('GET /healthz');
    const answers = readAnswers(await exchange(app.url, bytes));
    expect(answers.map(({ status }) => status)).toEqual([401, 200]);
  });

  test('that never ends is not received for long', async () => {
    const accepted = watchConnections(app);
    const socket = openSocket(app.url).resume();
    onTestFinished(() => void socket.destroy());
    const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked', connection: undefined };
    socket.write(requestText(chat, headers));
    const chunk = chunked('x'.repeat(MEBIBYTE), MEBIBYTE).slice(0, -5);
    const isClosed = () => accepted[0]?.destroyed === true;
    const write = () => {
      if (!isClosed()) socket.write(chunk, () => setImmediate(write));
    };
    write();
    await expect.poll(isClosed).toBe(true);
    expect(accepted[0]?.bytesRead).toBeLessThan(18 * MEBIBYTE);
  });

  test('is not asked for if its client waits for "100 Continue", but an accepted one is', async () => {
    const body = '{"message": "Hi"}';
    const headers = { 'content-length': String(body.length), expect: '100-continue' };
    const refused = await exchange(app.url, requestText(chat, { ...JSON_TYPE, ...headers }));
    expect(String(refused)).toMatch(/^HTTP\/1\.1 401 /);

    const socket = openSocket(app.url);
    onTestFinished(() => void socket.destroy());
    socket.write(requestText(chat, { ...keyed(), ...headers }));
    const [interim] = await once(socket, 'data');
    expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is not read for an address that has exceeded its limit', async () => {
    const limited = await startApp({ clock: () => Date.UTC(2030, 0, 1) });
    const headers = { ...JSON_TYPE, 'content-length': '1000' };
    for (let count = 0; count < 30; count += 1) {
      await fetch(`${limited.url}/graphql`, { method: 'POST', body: '{}', headers: JSON_TYPE });
    }
    const socket = openSocket(limited.url);
    onTestFinished(() => void socket.destroy());
    socket.write(requestText('POST /graphql', headers));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 429 /);
    const withKey = await limited.tenant();
    expect((await withKey.graphql('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });
});

describe('unusual bodies', () => {
  let app: TestApp;
  let tenant: Tenant;
  let chat: string;
  beforeAll(async () => {
    app = await startApp({ clock: passingMinutes() });
    tenant = await app.tenant();
    chat = `POST /v1/bots/${await tenant.bot()}/chat`;
  });
  const body = '{"message": "Hi"}';
  const headers = () => ({ ...JSON_TYPE, ...tenant.headers });
  const inChunks = (text: string, more = {}) =>
    requestText(chat, { ...headers(), 'transfer-encoding': 'chunked', ...more }) + text;

  test.each<[string, string, number]>([
    ['chunk extensions', `11${';a=b'.repeat(100)}\r\n${body}\r\n0\r\n\r\n`, 200],
    ['trailers', `11\r\n${body}\r\n0\r\nx-checksum: 1\r\n\r\n`, 200],
    [
      'chunk extensions of more than 16 KiB',
      `11;${'a'.repeat(17_000)}\r\n${body}\r\n0\r\n\r\n`,
      400,
    ],
    ['trailers of more than 16 KiB', `11\r\n${body}\r\n0\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`, 400],
    ['a chunk that is longer than it says', `2\r\n${body}\r\n0\r\n\r\n`, 400],
    ['a chunk of a negative size', `-1\r\n${body}\r\n0\r\n\r\n`, 400],
  ])('with %s get one answer', async (_what, text, status) => {
    const answer = await answerTo(app.url, inChunks(text));
    expect(answer.status).toBe(status);
    if (status === 400) expect(readError(answer).code).toBe('invalid_request');
  });

  test('in chunks are read whatever stands before their header', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`a${index}`, '']));
    const answer = await answerTo(
      app.url,
      requestText(chat, { ...many, ...headers(), 'transfer-encoding': 'chunked' }) +
        chunked(body, 1),
    );
    expect(answer.status).toBe(200);
  });

  test.each([
    ['shorter than its length', { 'content-length': '100' }, true],
    ['with a length and chunks', { 'content-length': '17', 'transfer-encoding': 'chunked' }, false],
    ['with two lengths', { 'content-length': '17', 'Content-Length': '18' }, false],
    ['with a negative length', { 'content-length': '-1' }, false],
  ])('%s are refused', async (_what, more, hangsUp) => {
    const bytes = requestText(chat, { ...headers(), ...more }) + body;
    const answer = await answerTo(app.url, bytes, { hangsUp });
    expect(answer.status).toBe(400);
    expect(readError(answer).code).toBe('invalid_request');
  });

  test.each(['gzip', 'deflate', 'br', 'zstd'])(
    'compressed with %s are refused unread',
    async (coding) => {
      const more = {
        'content-encoding': coding,
        'content-length': '1000000',
        connection: undefined,
      };
      const socket = openSocket(app.url);
      onTestFinished(() => void socket.destroy());
      socket.write(requestText(chat, { ...headers(), ...more }));
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toContain('compressed bodies are not supported');
    },
  );

  test('of a request that has none are dropped', async () => {
    const line = 'GET /healthz';
    const bytes = requestText(line, { connection: undefined, 'transfer-encoding': 'chunked' });
    const answers = readAnswers(
      await exchange(app.url, bytes + chunked('x'.repeat(100_000), 1_000) + requestText(line)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});
