import { getEventListeners } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress, type EgressRequest } from '../../src/egress/egress.ts';
import { EgressError } from '../../src/egress/error.ts';
import { type Site, type SiteHandler, startSite } from '../helpers/site.ts';

let site: Site;
let egress: Egress;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());
beforeEach(() => {
  egress = createEgress({ allowedHosts: [site.host] });
  site.requests.length = 0;
});
afterEach(() => egress.close());

const MEBIBYTE = 1024 * 1024;
const hello: SiteHandler = (_request, response) => response.end('Hello there.');

const send = (options: Partial<EgressRequest> = {}) =>
  egress.request({
    method: 'GET',
    url: `${site.origin}/`,
    headers: {},
    timeout: 10_000,
    signal: new AbortController().signal,
    ...options,
  });
const failure = async (options: Partial<EgressRequest> = {}) => {
  const error = await send(options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(EgressError);
  expect(error.message).not.toContain('127.0.0.1');
  return error.code;
};

describe('an outgoing call', () => {
  test('returns status, type and text, and stores no cookies', async () => {
    site.handle((request, response) => {
      response.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': 'id=1' });
      response.end(`${request.method} ${request.url} ${request.body}`);
    });
    const options = {
      method: 'POST',
      body: 'é',
      headers: { 'X-Key': 'k', 'accept-encoding': 'br' },
    };
    expect(await send({ ...options, url: `${site.origin}/a?b=%20c#d` })).toEqual({
      status: 201,
      contentType: 'text/plain',
      text: 'POST /a?b=%20c é',
      truncated: false,
    });
    await send();
    expect(site.requests[0]?.headers).toMatchObject({
      'x-key': 'k',
      'accept-encoding': 'identity',
    });
    expect(site.requests[1]?.headers.cookie).toBeUndefined();
  });

  test('reuses connections', async () => {
    site.handle(hello);
    const before = site.connections();
    for (let count = 0; count < 10; count += 1) await send();
    expect(site.connections() - before).toBeLessThan(5);
  });

  test('replaces invalid UTF-8 and characters that cannot be stored', async () => {
    site.handle((_request, response) => response.end(Buffer.from([0x61, 0xff, 0x00, 0xc3, 0xa9])));
    expect(await send()).toMatchObject({ text: 'a\uFFFD\uFFFDé', contentType: '' });
  });

  test('returns up to 64 KiB, and truncates longer text at a character boundary', async () => {
    site.handle((_request, response) => response.end('a'.repeat(64 * 1024)));
    expect(await send()).toMatchObject({ text: 'a'.repeat(64 * 1024), truncated: false });
    site.handle((_request, response) => response.end(`a${'é'.repeat(MEBIBYTE / 2)}`));
    expect(await send()).toMatchObject({ text: `a${'é'.repeat(32 * 1024 - 1)}`, truncated: true });
  });

  test('disconnects from an endless body', async () => {
    site.handle((_request, response) => {
      const timer = setInterval(() => response.write('a'.repeat(10_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const hungUp = site.hangUp();
    expect(await send()).toMatchObject({ truncated: true });
    await hungUp;
  });

  test('fails if the response is compressed although that was not accepted', async () => {
    site.handle((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a'.repeat(MEBIBYTE)));
    });
    expect(await failure()).toBe('broken-answer');
  });

  test.each<[string, SiteHandler]>([
    ['breaks off before it begins', (_request, response) => response.destroy()],
    [
      'breaks off in its body',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('Hel', () => response.destroy());
      },
    ],
    ['is not HTTP', (_request, response) => response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'has endless headers',
      (_request, response) => response.socket?.end(`HTTP/1.1 200 OK\r\na: ${'a'.repeat(MEBIBYTE)}`),
    ],
  ])('fails if the response %s', async (_what, handler) => {
    site.handle(handler);
    expect(await failure()).toBe('broken-answer');
  });

  test('fails if no server listens, or if a name has no address', async () => {
    const closed = await startSite();
    await closed.close();
    egress = createEgress({
      allowedHosts: [closed.host],
      lookup: () => Promise.reject(new Error('getaddrinfo ENOTFOUND 127.0.0.1')),
    });
    expect(await failure({ url: closed.origin })).toBe('unreachable');
    expect(await failure({ url: 'http://nowhere.example/' })).toBe('unreachable');
  });

  test.each<[string, Partial<EgressRequest>]>([
    ['its own Host header', { headers: { Host: 'internal.example' } }],
    ['its own framing header', { headers: { 'Transfer-Encoding': 'chunked' } }],
    ['a header with several lines', { headers: { a: 'b\r\nc: d' } }],
    ['an invalid header name', { headers: { 'a b': 'c' } }],
    ['an invalid method', { method: 'GET /\r\n' }],
    ['a tunnel', { method: 'CONNECT' }],
  ])('is refused with %s', async (_what, options) => {
    expect(await failure(options)).toBe('invalid-request');
    expect(site.requests).toEqual([]);
  });
});

describe('an outgoing call', () => {
  const silent: SiteHandler = () => {};
  const trickle: SiteHandler = (_request, response) => {
    const timer = setInterval(() => response.write('.'), 5);
    response.on('close', () => clearInterval(timer));
  };

  test.each<[string, SiteHandler]>([
    ['that does not respond', silent],
    ['that never finishes its body', trickle],
  ])('ends at the time limit for a server %s', async (_what, handler) => {
    site.handle(handler);
    const hungUp = site.hangUp();
    expect(await failure({ timeout: 100 })).toBe('timeout');
    await hungUp;
  });

  test('ends at the time limit before there is a connection', async () => {
    egress = createEgress({ allowedHosts: [], lookup: () => new Promise(() => {}) });
    const url = 'http://slow.example/';
    expect(await failure({ url, timeout: 10 })).toBe('timeout');
    const signal = AbortSignal.timeout(10);
    const error = await send({ url, signal }).catch((thrown) => thrown);
    expect(error).toBe(signal.reason);
  });

  test.each<[string, SiteHandler]>([
    ['before the response', silent],
    ['during the body', trickle],
  ])('ends with the abort signal %s', async (_what, handler) => {
    const controller = new AbortController();
    const reason = new Error('The run ended.');
    site.handle((request, response) => {
      handler(request, response);
      setImmediate(() => controller.abort(reason));
    });
    const hungUp = site.hangUp();
    await expect(send({ signal: controller.signal })).rejects.toBe(reason);
    await hungUp;
  });

  test('ends at once if the signal is already aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(send({ signal })).rejects.toBe(signal.reason);
    expect(site.requests).toEqual([]);
  });

  test('removes its abort listener', async () => {
    site.handle(hello);
    const { signal } = new AbortController();
    await send({ signal });
    await send({ signal, url: 'nonsense' }).catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends when all connections are closed', async () => {
    site.handle(() => void egress.close());
    expect(await failure()).toBe('broken-answer');
  });
});

describe('the fetch of outgoing calls', () => {
  test('sends a text and streams the response', async () => {
    site.handle((request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
      response.end(JSON.stringify({ got: request.body, key: request.headers['x-key'] }));
    });
    const init = { method: 'POST', headers: { 'X-Key': 'k' }, body: 'Hi' };
    const response = await egress.fetch(new URL(site.origin), init);
    expect([response.status, response.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']]);
    expect(await response.json()).toEqual({ got: 'Hi', key: 'k' });
  });

  test('disconnects if the reader cancels or the signal is aborted', async () => {
    site.handle((_request, response) => void response.write('data: 1\n\n'));
    const hungUp = site.hangUp();
    const left = await egress.fetch(site.origin);
    await left.body?.cancel();
    await hungUp;
    const controller = new AbortController();
    const ended = await egress.fetch(site.origin, { signal: controller.signal });
    controller.abort(new Error('The run ended.'));
    await expect(ended.text()).rejects.toThrow('The run ended.');
  });

  test('disconnects from a response with an invalid status', async () => {
    site.handle((_request, response) => void response.writeHead(999).write('Well'));
    const hungUp = site.hangUp();
    await expect(egress.fetch(site.origin)).rejects.toMatchObject({ code: 'broken-answer' });
    await hungUp;
  });

  test('has no body for a 204, and is checked by the egress guard', async () => {
    site.handle((_request, response) => response.writeHead(204).end());
    expect((await egress.fetch(site.origin)).body).toBeNull();
    await expect(egress.fetch('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'blocked' });
  });
});

describe('the slots of outgoing calls', () => {
  const code = 'too-many-requests';
  const request = (exchanges: Pick<Egress, 'request'>) =>
    exchanges.request({
      method: 'GET',
      url: site.origin,
      headers: {},
      timeout: 10_000,
      signal: new AbortController().signal,
    });

  test('limit the concurrent calls of one account, separately from others', async () => {
    egress = createEgress({ allowedHosts: [site.host], limits: { account: 1, process: 10 } });
    const received = Promise.withResolvers<() => void>();
    site.handle((_request, response) => received.resolve(() => response.end('Late.')));
    const first = request(egress.of('acc_1'));
    const answer = await received.promise;
    await expect(request(egress.of('acc_1'))).rejects.toMatchObject({ code });
    await expect(egress.of('acc_1').fetch(site.origin)).rejects.toMatchObject({ code });
    site.handle(hello);
    expect(await request(egress.of('acc_2'))).toMatchObject({ status: 200 });
    answer();
    expect(await first).toMatchObject({ text: 'Late.' });
    expect(await request(egress.of('acc_1'))).toMatchObject({ status: 200 });
  });

  test('limit all concurrent calls, until a response is read, cancelled or has failed', async () => {
    egress = createEgress({ allowedHosts: [site.host], limits: { account: 10, process: 1 } });
    site.handle(hello);
    const read = await egress.of('acc_1').fetch(site.origin);
    await expect(egress.of('acc_2').fetch(site.origin)).rejects.toMatchObject({ code });
    await read.text();
    await expect
      .poll(() => request(egress.of('acc_2')).catch(() => ({})))
      .toMatchObject({ status: 200 });
    site.handle((_request, response) => void response.write('data: 1\n\n'));
    const left = await egress.of('acc_1').fetch(site.origin);
    await left.body?.cancel();
    const blocked = () =>
      egress
        .of('acc_1')
        .fetch('http://127.0.0.1:1/')
        .catch((error) => error.code);
    await expect.poll(blocked).toBe('blocked');
    site.handle(hello);
    expect(await request(egress.of('acc_2'))).toMatchObject({ status: 200 });
  });
});
