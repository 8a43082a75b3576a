import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createSignedSecrets } from '../../src/accounts/signed-secrets.ts';
import { ERROR_LOGGING } from '../../src/start/error-log.ts';
import { startApp, TEST_SECRET_KEY, type TestApp } from '../helpers/app.ts';
import { exchange, requestText } from '../helpers/wire.ts';

type Line = { msg: string; path?: string; ip?: string; suppressed?: number; reqId?: string };

const lines: string[] = [];
const log = pino(
  { level: 'trace', ...ERROR_LOGGING },
  { write: (line: string) => void lines.push(line) },
);
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ log, trustProxy: ['127.0.0.1'] });
});
beforeEach(() => {
  lines.length = 0;
});

const parsed = () => lines.map((line): Line => JSON.parse(line));
const completed = () => parsed().filter(({ msg }) => msg === 'Request completed.');
/** Requests from different networks have separate lines. */
let clients = 0;
const from = () => {
  clients += 1;
  return `192.0.2.${clients}`;
};

/** Sends a request with this target. @returns the answer, and the lines about it. */
async function send(target: string, headers: Record<string, string> = {}) {
  const before = lines.length;
  const text = requestText(`GET ${target}`, { 'x-forwarded-for': from(), ...headers });
  const answer = String(await exchange(app.url, text));
  await expect.poll(() => completed().length).toBeGreaterThan(0);
  return { answer, written: lines.slice(before).join('') };
}

describe('the log of a request', () => {
  const key = makeApiKey();
  const body = key.slice('parley_sk_'.length);
  const encoded = [...key].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
  const code = createSignedSecrets([TEST_SECRET_KEY], 'parley_si_').make();

  test.each([
    ['the path', `/v1/bots/${key}/runs`],
    ['the path of a page', `/${key}`],
    ['the path, percent-encoded', `/v1/bots/${encoded}/runs`],
    ['the path, percent-encoded twice', `/${encoded.replaceAll('%', '%25')}`],
    ['the query', `/v1/bots/x/runs?key=${key}`],
    ['the user-info of an absolute URL', `http://user:${key}@parley.example/v1/nothing`],
    ['the user-info of another scheme', `ftp://${key}:@parley.example/x`],
    ['the path of the single connection', `/graphql/stream/${key}`],
    ['the end of a long path', `/${'x'.repeat(8_000)}/${key}`],
    ['the place where a path is cut', `/${'x'.repeat(240)}/${key}`],
  ])('has no key of %s, and no error of it has', async (_where, target) => {
    const { answer, written } = await send(target);
    for (const text of [key, encoded, body, body.slice(0, 8)]) {
      expect(written).not.toContain(text);
      expect(answer.split('\r\n\r\n')[1]).not.toContain(text);
    }
  });

  test.each([
    ['X-Request-Id', 'x-request-id'],
    ['X-Forwarded-For', 'x-forwarded-for'],
    ['User-Agent', 'user-agent'],
    ['Traceparent', 'traceparent'],
    ['Cookie', 'cookie'],
    ['Referer', 'referer'],
  ])('has no key or code of the header %s, which is in no answer', async (_name, header) => {
    for (const secret of [key, encoded, code]) {
      const { answer, written } = await send('/v1/nothing', { [header]: secret });
      for (const text of [secret, body, code.slice(10)]) {
        expect(written).not.toContain(text);
        expect(answer).not.toContain(text);
      }
    }
  });

  test('has no path of a webhook, whatever the method and the rest of the path', async () => {
    const path = 'w'.repeat(43);
    for (const target of [`/channels/telegram/${path}`, `/channels/telegram/${path}/x`])
      expect((await send(target)).written).not.toContain(path);
  });

  test('has no password of a URL', async () => {
    expect((await send('ftp://user:hunter2@parley.example/x')).written).not.toContain('hunter2');
    expect((await send('//user:hunter2@parley.example/x')).written).not.toContain('hunter2');
  });

  test('has at most 256 characters of a path', async () => {
    const { answer } = await send(`/${'x'.repeat(12_000)}`);
    expect(completed()[0]?.path).toBe(`/${'x'.repeat(255)}…`);
    expect(answer.length).toBeLessThan(2_000);
  });

  test('keeps the id, the path and the address of an ordinary request', async () => {
    await send('/v1/nothing?a=b', { 'x-request-id': 'mine-1', 'x-forwarded-for': '2001:db8::7' });
    expect(completed()).toMatchObject([
      { reqId: 'mine-1', path: '/v1/nothing', ip: '2001:db8::7' },
    ]);
  });
});

describe('the log of a flood', () => {
  test.each<[string, (headers: Record<string, string>) => Promise<Response>]>([
    ['of wrong keys', (headers) => fetch(`${app.url}/v1/bots/x/runs`, { headers })],
    ['of unknown paths', (headers) => fetch(`${app.url}/nothing`, { headers })],
    [
      'that GraphQL refuses with the status 200',
      (headers) =>
        fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
          body: '{"query": "{ viewer { account { id } } }"}',
        }),
    ],
  ])('%s has one line a second, which counts the others', async (_what, request) => {
    // Addresses of one network.
    clients += 1;
    const network = `2001:db8:${clients}::`;
    const start = performance.now();
    for (let batch = 0; batch < 10; batch += 1)
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const headers = { 'x-forwarded-for': `${network}${index}` };
          await (await request(headers)).text();
        }),
      );
    const counted = () =>
      completed()
        .filter(({ ip }) => ip?.startsWith(network))
        .reduce((sum, { suppressed = 0 }) => sum + 1 + suppressed, 0);
    await expect.poll(counted).toBe(200);
    const seconds = (performance.now() - start) / 1_000;
    expect(completed().length).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  });

  test('leaves the lines of refused requests with a valid key alone', async () => {
    const tenant = await app.tenant();
    const headers = { ...tenant.headers, 'x-forwarded-for': from() };
    const bot = await tenant.bot();
    for (let count = 0; count < 5; count += 1) {
      await (await fetch(`${app.url}/v1/bots/${bot}/runs?unknown=1`, { headers })).text();
      await (await fetch(`${app.url}/graphql?query={`, { headers })).text();
    }
    await expect.poll(() => completed().length).toBe(10);
    expect(completed().filter(({ suppressed }) => suppressed !== undefined)).toEqual([]);
  });

  test('leaves the lines of successful requests alone', async () => {
    const tenant = await app.tenant();
    const headers = { ...tenant.headers, 'x-forwarded-for': from() };
    const bot = await tenant.bot();
    for (let count = 0; count < 5; count += 1)
      await (await fetch(`${app.url}/v1/bots/${bot}/runs`, { headers })).text();
    await expect.poll(() => completed().length).toBe(5);
  });
});
