import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { readError } from '../helpers/documented.ts';
import { answerTo, exchange, openSocket, readAnswers, requestText } from '../helpers/wire.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let chat: string;
let deployments: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  chat = `POST /v1/bots/${bot}/chat`;
  deployments = `GET /v1/bots/${bot}/deployments`;
});

const json = () => ({ ...tenant.headers, 'content-type': 'application/json' });
const message = '{"message": "Hi"}';

/** The headers of a WebSocket handshake besides the upgrade itself. Source: RFC 6455, section 1.3. */
const HANDSHAKE = {
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'graphql-transport-ws',
};

describe('invalid HTTP', () => {
  test.each([
    ['not HTTP', 'HELLO\r\n\r\n'],
    ['only the end of a request', '\r\n\r\nx\r\n\r\n'],
    ['an unknown method', 'BREW /v1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a method for proxies', 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an unknown version', 'GET /v1 HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['a space in the URL', 'GET /v1 /x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1 HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n'],
    ['a header without a name', 'GET /v1 HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n'],
    ['oversized headers', `GET /v1 HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['an oversized URL', `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['an invalid length', 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    ['a negative length', 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'two lengths',
      'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    [
      'a length and chunks',
      'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
  ])('%s gets a 400 in the documented form', async (_what, text) => {
    const answer = await answerTo(app.url, text);
    expect(answer.headers.get('connection')).toBe('close');
    expect(readError(answer)).toMatchObject({ code: 'invalid_request' });
  });

  test('with oversized headers gets a specific error', async () => {
    const answer = await answerTo(app.url, requestText(deployments, { a: 'x'.repeat(20_000) }));
    expect(readError(answer).message).toBe('The headers are too large.');
  });

  test.each([
    ['a chunk without a length', 'zz\r\nhello\r\n'],
    ['a chunk of another length', '3\r\nhello\r\n0\r\n\r\n'],
    ['an oversized chunk', 'fffffffffffffffff\r\n'],
  ])('%s gets a 400, and counts as a request of its account', async (_what, chunks) => {
    const own = await app.tenant({ requestsPerMinute: 100 });
    const path = `POST /v1/bots/${await own.bot()}/chat`;
    const headers = { ...own.headers, 'content-type': 'application/json' };
    const head = requestText(path, { ...headers, 'transfer-encoding': 'chunked' });
    const answer = await answerTo(app.url, head + chunks);
    expect(readError(answer)).toMatchObject({ code: 'invalid_request' });
    expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('99');
  });

  test('half a request gets a 400 when the client has half-closed the connection', async () => {
    const text = requestText(chat, json(), message);
    for (const length of [20, text.indexOf('\r\n\r\n') + 2, text.length - 1]) {
      const answer = await answerTo(app.url, text.slice(0, length), { hangsUp: true });
      expect(readError(answer)).toMatchObject({ code: 'invalid_request' });
    }
  });

  test('after valid requests is refused after their responses', async () => {
    const whole = requestText(chat, { ...json(), connection: undefined }, message);
    const list = requestText(deployments, { ...tenant.headers, connection: undefined });
    const [first, second, third, ...more] = readAnswers(
      await exchange(app.url, `${whole}${list}NONSENSE\r\n\r\n`),
    );
    expect(more).toEqual([]);
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ response: 'Hello there.' });
    expect(JSON.parse(second?.body ?? '')).toMatchObject({ next_cursor: null });
    expect(third && readError(third)).toMatchObject({ code: 'invalid_request' });
  });

  test('does not keep a run active after its client disconnected', async () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    app.upstream.script(async ({ closed }) => {
      started.resolve();
      await closed;
      aborted.resolve();
    });
    const socket = openSocket(app.url);
    socket.write(`${requestText(chat, { ...json(), connection: undefined }, message)}NONSENSE\r\n`);
    await started.promise;
    socket.end();
    await aborted.promise;
    app.upstream.script(({ say, end }) => {
      say('Hello there.');
      end();
    });
  });
});

describe('a request', () => {
  test('may be pipelined on one connection, even if some are refused', async () => {
    const kept = { ...tenant.headers, connection: undefined };
    const text = [
      requestText(deployments, kept),
      requestText('GET /v1/nothing', kept),
      requestText(chat, { ...kept, 'content-type': 'application/json' }, '{'),
      requestText(chat, { ...kept, 'content-type': 'application/json' }, message),
      requestText(deployments, { connection: undefined }),
      requestText(deployments, tenant.headers),
    ].join('');
    const answers = readAnswers(await exchange(app.url, text));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 200, 401, 200]);
    const closing = answers.filter(({ headers }) => headers.get('connection') === 'close');
    expect(closing).toEqual(answers.slice(-1));
  });

  test('that is pipelined is cancelled too when its client disconnects', async () => {
    const started = Promise.withResolvers<void>();
    app.upstream.script(async ({ closed }) => {
      if (app.upstream.openResponses() === 2) started.resolve();
      await closed;
    });
    const socket = openSocket(app.url);
    const text = requestText(chat, { ...json(), connection: undefined }, message);
    socket.write(text + text);
    await started.promise;
    socket.destroy();
    await expect.poll(app.upstream.openResponses).toBe(0);
    app.upstream.script(({ say, end }) => {
      say('Hello there.');
      end();
    });
  });

  test('may use HTTP/1.0', async () => {
    const text = requestText(deployments, tenant.headers).replace('HTTP/1.1', 'HTTP/1.0');
    expect((await answerTo(app.url, text)).status).toBe(200);
  });

  test('may have an absolute URL, as RFC 9112 allows', async () => {
    const own = { ...tenant.headers, host: undefined };
    for (const server of ['http://localhost:4000', 'HTTPS://example.com']) {
      const line = deployments.replace('/', `${server}/`);
      expect((await answerTo(app.url, requestText(line, own))).status).toBe(200);
    }
    expect((await answerTo(app.url, requestText('GET http://x'))).status).toBe(200);
  });

  test.each(['POST', 'HEAD', 'DELETE', 'OPTIONS'])(
    'with the method %s does not open a WebSocket, and its connection is closed',
    async (method) => {
      const headers = { connection: 'close, upgrade', upgrade: 'websocket', ...HANDSHAKE };
      const text = requestText(`${method} /graphql/ws`, headers);
      const answer = await answerTo(app.url, text, { bodyless: method === 'HEAD' });
      expect(answer.status).toBe(404);
    },
  );

  test('with HEAD gets a response without a body, and the connection stays open', async () => {
    const head = requestText(deployments.replace('GET', 'HEAD'), {
      ...tenant.headers,
      connection: undefined,
    });
    const list = requestText(deployments, tenant.headers);
    const [first, second] = readAnswers(await exchange(app.url, head + list), true);
    expect([first?.status, first?.body]).toEqual([200, '']);
    expect(first?.headers.get('content-length')).toBe(second?.headers.get('content-length'));
    expect(first?.headers.get('x-ratelimit-limit')).toBe('1000000');
    expect(second?.status).toBe(200);
  });

  test('may have a chunked body, with extensions and trailers', async () => {
    const head = requestText(chat, { ...json(), 'transfer-encoding': 'chunked' });
    const body = '1\r\n{\r\n10;a=b\r\n"message": "Hi"}\r\n0\r\nTrailer: x\r\n\r\n';
    expect((await answerTo(app.url, head + body)).status).toBe(200);
  });

  test('in chunks is limited to 1 MiB too', async () => {
    const head = requestText(chat, { ...json(), 'transfer-encoding': 'chunked' });
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const [answer] = readAnswers(await exchange(app.url, `${head}${chunk.repeat(17)}0\r\n\r\n`));
    expect(answer && readError(answer)).toMatchObject({ code: 'request_too_large' });
  });

  test('of exactly 1 MiB is accepted, and of one byte more refused', async () => {
    const sized = (size: number) => `{"message": "${'x'.repeat(size - '{"message": ""}'.length)}"}`;
    const send = (size: number) => answerTo(app.url, requestText(chat, json(), sized(size)));
    expect((await send(1024 * 1024)).status).toBe(200);
    expect(readError(await send(1024 * 1024 + 1))).toMatchObject({ code: 'request_too_large' });
  });

  test.each(['gzip', 'br', 'GZIP', 'gzip, identity'])(
    'with a body compressed with %s gets an error about Content-Encoding',
    async (encoding) => {
      const answer = await fetch(`${app.url}/v1/bots/${bot}/chat`, {
        method: 'POST',
        headers: { ...json(), 'content-encoding': encoding },
        body: gzipSync(message),
      });
      const { status, headers } = answer;
      const error = readError({ status, headers, body: await answer.text() });
      expect(error.code).toBe('invalid_request');
      expect(error.message).toContain('Content-Encoding');
    },
  );

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON ; charset=utf-8; a=b',
  ])('may have the content type %s', async (type) => {
    const text = requestText(chat, { ...json(), 'content-type': type }, message);
    expect((await answerTo(app.url, text)).status).toBe(200);
  });

  test('with Content-Encoding: identity is accepted', async () => {
    const text = requestText(chat, { ...json(), 'content-encoding': 'identity' }, message);
    expect((await answerTo(app.url, text)).status).toBe(200);
  });

  test('may wait for 100 Continue', async () => {
    const socket = openSocket(app.url);
    const text = requestText(chat, { ...json(), expect: '100-continue' }, message);
    socket.write(text.slice(0, -message.length));
    const [interim] = await once(socket, 'data');
    expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(message);
    const [answer] = readAnswers(Buffer.concat(await Array.fromAsync<Buffer>(socket)));
    expect(answer?.status).toBe(200);
  });

  test.each([
    ['no body', {}],
    ['an empty body', { 'content-length': '0' }],
    ['an empty JSON body', { 'content-type': 'application/json', 'content-length': '0' }],
    ['an empty body of another type', { 'content-type': 'text/plain', 'content-length': '0' }],
    ['an empty body of an invalid type', { 'content-type': 'nonsense', 'content-length': '0' }],
  ])('with %s is accepted for rollback and cancel', async (_what, headers) => {
    const listed = await fetch(`${app.url}/v1/bots/${bot}/deployments`, tenant);
    const { deployments } = (await listed.json()) as { deployments: { deployment_id: string }[] };
    const run = (await tenant.chat(bot, { message: 'Hi' })).headers.get('x-run-id');
    for (const path of [
      `deployments/${deployments[0]?.deployment_id}/rollback`,
      `runs/${run}/cancel`,
    ]) {
      const line = `POST /v1/bots/${bot}/${path}`;
      const text = requestText(line, { ...tenant.headers, ...headers });
      expect([path, (await answerTo(app.url, text)).status]).toEqual([path, 200]);
    }
  });
});
