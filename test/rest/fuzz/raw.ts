import type { Random } from '../../helpers/seeded-random.ts';

/** One or more raw requests. */
export type RawRequest = {
  /** Each character is a byte. */
  text: string;
  /** Whether a server can tell where each request ends, and that it is the last one. */
  isFramed: boolean;
};

const METHODS = ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH', 'TRACE'] as const;
const NO_METHODS = ['BREW', 'get', 'G ET', '', 'PRI', 'GET\0', 'CONNECT'] as const;
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'] as const;
const NO_VERSIONS = ['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.10', 'http/1.1', 'HTTP', ''] as const;

type Known = { bot: string; apiKey: string };

/** Creates requests that no client library would send. */
export function createRawRequests(random: Random, { bot, apiKey }: Known) {
  const chance = (percent: number) => random.int(1, 100) <= percent;
  const bytes = (length: number): string =>
    Buffer.from(Array.from({ length }, () => random.int(0, 255))).toString('latin1');

  const target = (): string =>
    random.pick<() => string>([
      () => `/v1/bots/${bot}/chat`,
      () => `/v1/bots/${bot}/execute`,
      () => `/v1/bots/${bot}/runs?limit=${random.int(-5, 200)}`,
      () => `/v1/bots/${bot}/deployments?cursor=${encodeURIComponent(bytes(6))}`,
      () => `/v1/bots/${encodeURIComponent(bytes(8))}/runs`,
      () => `/v1/bots/%${bytes(2)}/chat`,
      () => `/v1/${bytes(random.int(0, 30))}`,
      () => `/v1/bots/${bot}/runs/${'../'.repeat(random.int(1, 9))}`,
      () => `http://localhost/v1/bots/${bot}/runs`,
      () => `/${'x'.repeat(random.int(0, 20_000))}`,
      () => random.pick(['*', '', '//', '/?', '/v1?', '/v1#a', '/v1/bots', 'localhost:80', '/\\']),
    ])();

  const field = (): string =>
    random.pick<() => string>([
      () => `Authorization: Bearer ${apiKey}`,
      () => `authorization: bearer  ${apiKey}  `,
      () => `Authorization: ${bytes(random.int(0, 40))}`,
      () => `Content-Type: application/json; charset=${random.pick(['utf-8', 'latin1', '"', 'x'])}`,
      () => `Content-Type: ${bytes(8)}`,
      () => `Accept: ${random.pick(['text/event-stream', '*/*', ';', 'text/event-stream;q=x'])}`,
      () => `X-Session-ID: ${bytes(5)}`,
      () => `X-Request-Id: ${random.pick(['a', 'x'.repeat(200), '"', '<b>', bytes(5)])}`,
      () => `Idempotency-Key: ${bytes(3)}`,
      () => `Content-Encoding: ${random.pick(['gzip', 'br', 'identity', ''])}`,
      () => `Expect: ${random.pick(['100-continue', 'the-impossible'])}`,
      () => `Upgrade: ${random.pick(['websocket', 'h2c', ''])}`,
      () => `X-Forwarded-For: ${random.pick(['1.2.3.4', '::1, x', bytes(4)])}`,
      () => `X-Large: ${'x'.repeat(random.int(0, 20_000))}`,
      () => `${bytes(random.int(0, 6))}: ${bytes(random.int(0, 6))}`,
      () => ' folded',
      () => 'no colon',
      () => 'Host: other',
    ])();

  const chunk = (): string => {
    const size = random.pick(['5', '05', '5;a=b', '5', 'zz', '-1', 'ffffffffffffffffff', '', '6']);
    return `${size}\r\nhello\r\n`;
  };

  const framing = (): string =>
    random.pick<() => string>([
      () => `Content-Length: ${random.pick(['x', '-1', '5, 6', '0x5', '9'.repeat(30), '+5', ''])}`,
      () => 'Content-Length: 5\r\nContent-Length: 6',
      () => 'Content-Length: 5\r\nTransfer-Encoding: chunked',
      () => `Content-Length: ${random.int(0, 99)}`,
      () => `Transfer-Encoding: ${random.pick(['chunked', 'gzip', 'chunked, gzip', 'x, chunked'])}`,
      () => 'Transfer-Encoding: chunked',
    ])();

  /** A request with a known end, for any target. */
  const framed = (isLast: boolean, method: string): string => {
    const body = random.pick(['', '{}', '{"message": "Hi"}', '{', '[]', bytes(20)]);
    const lines = [
      `${method} ${target()} ${random.pick(VERSIONS)}`,
      ...(chance(90) ? ['Host: localhost'] : []),
      ...(chance(80) ? [`Authorization: Bearer ${apiKey}`] : []),
      ...(chance(80) ? ['Content-Type: application/json'] : []),
      ...Array.from({ length: random.int(0, 3) }, field),
      ...(isLast ? ['Connection: close'] : []),
    ];
    if (chance(30)) {
      const size = Buffer.byteLength(body, 'latin1').toString(16);
      const chunks = body === '' ? '0\r\n\r\n' : `${size}\r\n${body}\r\n0\r\n\r\n`;
      return `${[...lines, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${chunks}`;
    }
    return `${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
  };

  /** A request whose end may be unknown, or that may be invalid. */
  const unframed = (): string => {
    const end = random.pick(['\r\n', '\r\n', '\n', '\r', '\0']);
    const method = random.pick([...METHODS, ...NO_METHODS]);
    const lines = [
      `${method} ${target()} ${random.pick([...VERSIONS, ...NO_VERSIONS])}`,
      'Host: localhost',
      ...(chance(80) ? [`Authorization: Bearer ${apiKey}`] : []),
      ...(chance(70) ? ['Content-Type: application/json'] : []),
      ...Array.from({ length: random.int(0, 3) }, field),
      framing(),
    ];
    const body = chance(50) ? chunk() + chunk() : bytes(random.int(0, 50));
    return lines.join(end) + end + end + body;
  };

  const cut = (text: string) => text.slice(0, random.int(0, text.length));

  const corrupted = (text: string) => {
    const at = random.int(0, text.length);
    return text.slice(0, at) + bytes(random.int(1, 3)) + text.slice(at + random.int(0, 3));
  };

  return (): RawRequest => {
    if (chance(40)) {
      const method = random.pick(METHODS);
      const before = method === 'HEAD' || chance(70) ? 0 : random.int(1, 3);
      const pipelined = Array.from({ length: before }, () => framed(false, 'GET'));
      const text = [...pipelined, framed(true, method)].join('');
      return { text, isFramed: true };
    }
    const text = random.pick<() => string>([
      () => unframed(),
      () => cut(unframed()),
      () => cut(framed(true, random.pick(METHODS))),
      () => corrupted(framed(true, 'POST')),
      () => bytes(random.int(1, 200)),
    ])();
    return { text, isFramed: false };
  };
}
