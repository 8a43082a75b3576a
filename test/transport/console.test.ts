import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FILE_LIMIT } from '../../src/accounts/limits.ts';
import { CONSOLE_DIRECTORY } from '../../src/transport/console/files.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { exchange, readAnswers, requestText } from '../helpers/wire.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** The bound of the first screen's scripts, compressed, in bytes. */
const MAX_SCRIPT = 120_000;

/** The bound of all scripts of the console without the guide's content, compressed, in bytes. */
const MAX_SCRIPTS = 420_000;

let now = Date.UTC(2026, 10, 20, 12);
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now });
});

/** Starts a new rate-limit minute for each test. */
beforeEach(() => {
  now += 60_000;
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers: { accept: 'text/html', ...headers } });

const filesOf = (html: string) =>
  [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

/** The body of a response, as it is sent. */
async function sent(path: string, encoding: string) {
  const text = requestText(`GET ${path}`, { 'accept-encoding': encoding });
  const bytes = await exchange(app.url, text);
  const [answer] = readAnswers(bytes);
  return { headers: answer?.headers, body: bytes.subarray(bytes.indexOf('\r\n\r\n') + 4) };
}

describe('the console', () => {
  test.each([
    '/',
    '/sign-in',
    '/bots',
    '/bots/new',
    '/bots/desk/start',
    '/runs/run_1',
    '/settings',
    '/settings/keys/new',
  ])('has a page at %s that loads only this server’s own files', async (path) => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toBe(POLICY);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    const again = await get(path, { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('has a message for browsers without JavaScript, and no inline script or style', async () => {
    const page = await (await get('/')).text();
    expect(page).toContain('<noscript>The Parley console needs JavaScript.');
    expect(page).not.toMatch(/<style|<script(?![^>]+src=)|\sstyle=|\son\w+=/);
  });

  test.each([
    '/nothing',
    '/bots/x/y/z/nothing',
    '/runs',
    '/settings/nothing',
    '/guide/tour/more/nothing',
    '/assets/none.js',
  ])('is shown to a browser at %s, as not found', async (path) => {
    const shown = await get(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await shown.text()).toBe(await (await get('/')).text());
  });

  test.each(['/v1/nothing', '/v1', '/v1/bots/x/nothing'])(
    'is not shown to a browser at %s, an address of the REST interface',
    async (path) => {
      const answer = await get(path, { accept: 'text/html' });
      expect(answer.status).not.toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  test('has no page at other addresses', async () => {
    for (const path of [
      '/nothing',
      '/botsx',
      '/assets/',
      '/assets/x.js',
      '/assets/..%2findex.html',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });

  test('has files with an immutable cache lifetime, in each encoding', async () => {
    const files = filesOf(await (await get('/')).text());
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const file of files) {
      const plain = await sent(file, 'identity');
      expect(plain.headers?.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers?.get('x-content-type-options')).toBe('nosniff');
      if (file.endsWith('.woff2')) continue;
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

  test('needs less than 120 kB of compressed JavaScript for its first screen', async () => {
    const page = await (await get('/')).text();
    const scripts = filesOf(page).filter((file) => file.endsWith('.js'));
    const sizes = await Promise.all(
      scripts.map(async (file) => (await sent(file, 'br')).body.length),
    );
    const size = sizes.reduce((sum, one) => sum + one, 0);
    console.log(
      `The console's first screen: ${(size / 1_000).toFixed(1)} kB of JavaScript, brotli.`,
    );
    expect(scripts.length).toBeGreaterThan(0);
    expect(size).toBeLessThan(MAX_SCRIPT);
  });

  test('needs less than 420 kB of compressed JavaScript, and its editor only in the Studio', async () => {
    const assets = join(CONSOLE_DIRECTORY, 'assets');
    const names = (await readdir(assets)).filter((name) => name.endsWith('.js.br'));
    const own = names.filter((name) => !name.startsWith('guide-page-'));
    const sizes = await Promise.all(
      own.map(async (name) => ({ name, size: (await stat(join(assets, name))).size })),
    );
    const sum = sizes.reduce((total, { size }) => total + size, 0);
    const editor = sizes.find(({ name }) => name.startsWith('editor-'));
    const inKilobytes = (size = 0) => `${(size / 1_000).toFixed(1)} kB`;
    console.log(`The console: ${inKilobytes(sum)} of JavaScript, brotli.`);
    console.log(`Its editor: ${inKilobytes(editor?.size)} of them.`);
    expect(sum).toBeLessThan(MAX_SCRIPTS);
    expect(editor?.size).toBeGreaterThan(0);
    expect(await (await get('/bots/desk/studio')).text()).not.toContain('editor-');
  });

  test('counts its page and files against the files that an address may load in a minute', async () => {
    for (let count = 0; count < FILE_LIMIT.perMinute; count += 1)
      expect((await get('/bots')).status).toBe(200);
    const refused = await get('/bots');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  });
});
