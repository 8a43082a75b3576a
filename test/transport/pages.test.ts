import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FILE_LIMIT } from '../../src/accounts/limits.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { exchange, readAnswers, requestText } from '../helpers/wire.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

let now = Date.UTC(2026, 10, 20, 12) / 1_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now * 1_000 });
});

/** Starts a new rate-limit minute for each test. */
beforeEach(() => {
  now += 60;
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers: { accept: 'text/html', ...headers } });

/** The bytes of a response, as they are sent. */
async function sent(path: string, encoding: string) {
  const text = requestText(`GET ${path}`, { accept: 'text/html', 'accept-encoding': encoding });
  const bytes = await exchange(app.url, text);
  const [answer] = readAnswers(bytes);
  return { headers: answer?.headers, bytes, body: bytes.subarray(bytes.indexOf('\r\n\r\n') + 4) };
}

/** The URLs of the files that a page loads. */
const filesOf = (html: string) =>
  [...html.matchAll(/"((?:graphql|docs)\/assets\/[^"]+)"/g)].map(([, path = '']) => `/${path}`);

describe.each([
  ['/docs', POLICY],
  [
    '/graphql',
    [
      ...POLICY.map((directive) =>
        directive.startsWith('style-src') ? `${directive} 'unsafe-inline'` : directive,
      ),
      "worker-src 'self'",
    ],
  ],
])('the page %s', (path, policy) => {
  test('loads only this server’s own files, and cannot be framed', async () => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')?.split('; ')).toEqual(policy);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('is small, compressed, and revalidated by browsers', async () => {
    const plain = await sent(path, 'identity');
    expect(plain.headers?.get('content-encoding')).toBeNull();
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, body, bytes } = await sent(path, `deflate, ${encoding}`);
      expect(headers?.get('content-encoding')).toBe(encoding);
      expect(decode(body).equals(plain.body)).toBe(true);
      expect(bytes.length).toBeLessThan(64 * 1024);
    }
    const { headers } = await get(path);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('vary')).toContain('Accept-Encoding');
    // The same URL serves GraphQL to other clients.
    if (path === '/graphql') expect(headers.get('vary')?.split(', ')).toContain('Accept');
    const again = await get(path, { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('counts as 1 request of its address, which has 30 a minute', async () => {
    for (let left = 29; left >= 0; left -= 1) {
      const { status, headers } = await get(path);
      expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, String(left)]);
    }
    const refused = await get(path);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    const tenant = await app.tenant();
    expect((await get('/v1/nothing', tenant.headers)).status).toBe(404);
  });

  test('has files with an immutable cache lifetime, in each encoding', async () => {
    const files = filesOf(await (await get(path)).text());
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const file of files) {
      const plain = await sent(file, 'identity');
      expect(plain.headers?.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers?.get('x-content-type-options')).toBe('nosniff');
      for (const [encoding, decode] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const { headers, body } = await sent(file, encoding);
        expect([file, headers?.get('content-encoding')]).toEqual([file, encoding]);
        expect(decode(body).equals(plain.body)).toBe(true);
      }
    }
  });

  test('has files that count against their address separately from its requests', async () => {
    const files = filesOf(await (await get(path)).text());
    // GraphiQL's largest file has 5 MB.
    const file = files.find((name) => name.endsWith('.css')) ?? '';
    for (let count = 0; count < FILE_LIMIT.perMinute; count += 1) {
      const { status, body } = await get(file, { 'if-none-match': '"other"' });
      await body?.cancel();
      expect(status).toBe(200);
    }
    const refused = await get(file);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await get(path)).status).toBe(200);
  });
});

describe('the server', () => {
  test('forbids caches to store responses with data', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const post = (path: string, body: object) =>
      fetch(app.url + path, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answers = [
      await post(`/v1/bots/${bot}/chat`, { message: 'Hi' }),
      await get(`/v1/bots/${bot}/runs`, tenant.headers),
      await get('/v1/nothing', tenant.headers),
      await get('/v1/%zz', tenant.headers),
      await get('/v1/bots/any/runs'),
      await post('/graphql', { query: '{ viewer { account { id } } }' }),
      await post('/graphql', { query: 'nonsense' }),
      await fetch(`${app.url}/graphql?query={__typename}`, tenant),
      await fetch(`${app.url}/graphql/stream`, { method: 'PUT', headers: tenant.headers }),
      await get('/healthz'),
    ];
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(
      answers.map(() => 'no-store'),
    );
  });

  test('serves no files outside GraphiQL’s folder', async () => {
    for (const path of [
      '',
      '../client.ts',
      '%2e%2e/pothos-types.ts',
      '..%2fpothos-types.ts',
      'x.js',
    ]) {
      const { status } = await exchangeOne(`GET /graphql/assets/${path}`);
      expect([path, status]).toEqual([path, expect.toSatisfy((code) => code >= 400 && code < 500)]);
    }
  });
});

async function exchangeOne(line: string) {
  const [answer] = readAnswers(await exchange(app.url, requestText(line)));
  if (!answer) throw new Error('There is no response.');
  return answer;
}
