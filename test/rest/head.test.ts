import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const METRICS_TOKEN = 'a-token-of-the-metrics-of-32-bytes';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let run: string;
beforeAll(async () => {
  // All in one window of the limits.
  const now = Date.now();
  app = await startApp({ clock: () => now, metrics: { token: METRICS_TOKEN } });
  tenant = await app.tenant();
  bot = await tenant.bot();
  const chat = await tenant.chat(bot, { message: 'Hi' });
  run = chat.headers.get('x-run-id') ?? '';
});

const ask = (method: string, path: string, headers: Record<string, string> = tenant.headers) =>
  fetch(app.url + path.replace('{bot}', bot).replace('{run}', run), { method, headers });

const CHANGING = ['date', 'x-request-id', 'x-ratelimit-remaining', 'transfer-encoding'];
/** `fetch` closes the connection of a HEAD request. */
const OF_CONNECTIONS = ['connection', 'keep-alive'];

/** The headers that are the same for every request for an address. */
function lasting({ headers }: Response): Record<string, string> {
  const changing = [...CHANGING, ...OF_CONNECTIONS];
  return Object.fromEntries([...headers].filter(([name]) => !changing.includes(name)));
}

const remaining = ({ headers }: Response) => Number(headers.get('x-ratelimit-remaining'));

/** Every address of the REST interface that answers GET without beginning a run. */
const API = [
  '/v1/bots/{bot}/runs',
  '/v1/bots/{bot}/runs?limit=1&status=completed',
  '/v1/bots/{bot}/runs/{run}',
  '/v1/bots/{bot}/runs/{run}/events',
  '/v1/bots/{bot}/deployments',
  '/v1/openapi.json',
];

describe('HEAD', () => {
  test.each(API)('has the headers of GET, no body, and counts as GET: %s', async (path) => {
    const got = await ask('GET', path);
    await got.text();
    const head = await ask('HEAD', path);
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(lasting(head)).toEqual(lasting(got));
    expect(remaining(head)).toBe(remaining(got) - 1);
    const isStream = path.endsWith('/events');
    expect(Number(head.headers.get('content-length')) > 0).toBe(!isStream);
  });

  test.each(['/', '/settings', '/docs', '/healthz', '/readyz', '/metrics'])(
    'has the headers of GET: %s',
    async (path) => {
      const headers =
        path === '/metrics' ? { authorization: `Bearer ${METRICS_TOKEN}` } : undefined;
      const got = await ask('GET', path, headers);
      await got.text();
      const head = await ask('HEAD', path, headers);
      expect([head.status, await head.text()]).toEqual([200, '']);
      // The length of the metrics grows with their counts.
      const length = { 'content-length': expect.stringMatching(/^[1-9]\d*$/) };
      expect(lasting(head)).toEqual({ ...lasting(got), ...length });
    },
  );

  test('has the headers of GET for the files of the pages', async () => {
    for (const page of ['/', '/docs']) {
      const html = await (await ask('GET', page)).text();
      const files = [...html.matchAll(/(?:src|href)="\/?((?:docs\/)?assets\/[^"]+)"/g)];
      expect(files.length).toBeGreaterThan(0);
      for (const [, file] of files) {
        const got = await ask('GET', `/${file}`);
        await got.text();
        const head = await ask('HEAD', `/${file}`);
        expect([file, head.status, lasting(head)]).toEqual([file, 200, lasting(got)]);
      }
    }
  });

  test.each([
    '/v1/bots/{bot}/chat/stream?message=Hi',
    '/graphql',
    '/graphql/ws',
    '/graphql/stream',
  ])('is 404 where GET begins an operation, and begins none: %s', async (path) => {
    const count = await app.prisma.run.count({ where: { botId: bot } });
    const head = await ask('HEAD', path);
    expect([head.status, await head.text()]).toEqual([404, '']);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(count);
  });

  test.each([
    ['an unknown run', '/v1/bots/{bot}/runs/run_none', 404],
    ['the events of an unknown run', '/v1/bots/{bot}/runs/run_none/events', 404],
    ['a run of another bot', '/v1/bots/demo-of-none/runs/{run}', 404],
    ['an unknown parameter', '/v1/bots/{bot}/runs?colour=blue', 400],
  ])('has the error’s status and headers for %s', async (_what, path, status) => {
    const got = await ask('GET', path);
    const body = await got.text();
    const head = await ask('HEAD', path);
    expect([head.status, await head.text()]).toEqual([status, '']);
    expect(lasting(head)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    });
    expect(remaining(head)).toBe(remaining(got) - 1);
  });

  test('needs the key and scope of GET', async () => {
    const talker = { authorization: `Bearer ${await tenant.key({ scopes: ['CHAT'] })}` };
    expect((await ask('HEAD', '/v1/bots/{bot}/runs', {})).status).toBe(401);
    expect((await ask('HEAD', '/v1/bots/{bot}/runs', talker)).status).toBe(403);
    expect((await ask('HEAD', '/v1/bots/{bot}/runs/{run}/events', talker)).status).toBe(200);
  });

  test('is refused beyond the limit', async () => {
    const poor = await app.tenant({ requestsPerMinute: 1, requestsPerDay: 100 });
    const own = `/v1/bots/${await poor.bot()}/runs`;
    expect((await ask('HEAD', own, poor.headers)).status).toBe(200);
    const refused = await ask('HEAD', own, poor.headers);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
  });

  test('of the events of an active run answers at once', async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end, closed }) => {
      say('Well');
      asked.resolve();
      await Promise.race([go.promise, closed]);
      end();
    });
    const chat = await tenant.chat(
      bot,
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    await asked.promise;
    const path = `/v1/bots/{bot}/runs/${chat.headers.get('x-run-id')}/events`;
    const head = await ask('HEAD', path, { ...tenant.headers, 'last-event-id': '1' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    go.resolve();
    await chat.text();
    const over = await ask('HEAD', path, { ...tenant.headers, 'last-event-id': '99' });
    expect(over.status).toBe(204);
    const got = await ask('GET', path, { ...tenant.headers, 'last-event-id': '99' });
    expect(lasting(over)).toEqual(lasting(got));
    // Source: RFC 9110, section 8.6.
    expect(over.headers.has('content-length')).toBe(false);
  });
});
