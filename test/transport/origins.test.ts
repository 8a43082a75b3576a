import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../helpers/app.ts';

const LISTED = 'https://shop.example';

let closed: TestApp;
let open: TestApp;
beforeAll(async () => {
  closed = await startApp();
  open = await startApp({ allowedOrigins: [LISTED] });
});

/** All CORS headers of a response. */
const cors = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const request = (url: string, method: string, origin: string) =>
  fetch(url, {
    method,
    headers: { origin, 'content-type': 'application/json', accept: 'text/event-stream' },
    ...(method === 'POST' && { body: '{"query": "{ __typename }"}' }),
  });

const EXPOSED =
  'X-Request-Id, X-Run-Id, Idempotency-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After';
const PATHS = ['/graphql', '/graphql/stream'];

describe('a page of a listed origin', () => {
  test.each(PATHS)('may request %s', async (path) => {
    const preflight = await request(open.url + path, 'OPTIONS', LISTED);
    expect(preflight.status).toBe(204);
    expect(cors(preflight)).toEqual({
      'access-control-allow-origin': LISTED,
      'access-control-allow-headers':
        'Authorization, Content-Type, Accept, X-Request-Id, Traceparent, X-GraphQL-Event-Stream-Token',
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-expose-headers': EXPOSED,
      'access-control-max-age': '7200',
    });
    const answer = await request(open.url + path, 'POST', LISTED);
    expect(answer.status).toBe(200);
    expect(cors(answer)).toEqual({
      'access-control-allow-origin': LISTED,
      'access-control-expose-headers': EXPOSED,
    });
    expect(answer.headers.get('vary')).toContain('Origin');
    await answer.text();
  });

  test('can read errors', async () => {
    const answer = await fetch(`${open.url}/graphql`, {
      method: 'POST',
      headers: { origin: LISTED, 'content-type': 'application/json' },
      body: '{',
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('access-control-allow-origin')).toBe(LISTED);
  });
});

describe('a page of another origin', () => {
  test.each([
    ['that is not listed', () => open, 'https://shop.example.evil'],
    ['with the origin null', () => open, 'null'],
    ['when no origin is listed', () => closed, LISTED],
  ])('%s gets no CORS header anywhere', async (_what, app, origin) => {
    for (const path of [...PATHS, '/v1/bots/x/runs', '/v1/openapi.json', '/healthz', '/docs']) {
      for (const method of ['OPTIONS', 'POST', 'GET']) {
        const answer = await request(app().url + path, method, origin);
        expect(cors(answer), `${method} ${path}`).toEqual({});
        await answer.body?.cancel();
      }
    }
  });

  test.each(PATHS)(
    'gets responses of %s that caches keep separately for each origin',
    async (path) => {
      for (const method of ['OPTIONS', 'POST']) {
        const answer = await request(open.url + path, method, 'https://other.example');
        expect(answer.headers.get('vary'), method).toContain('Origin');
        await answer.body?.cancel();
      }
    },
  );

  test('cannot read the REST interface, even if it is listed', async () => {
    for (const method of ['GET', 'OPTIONS'])
      expect(cors(await request(`${open.url}/v1/bots/x/runs`, method, LISTED)), method).toEqual({});
  });
});

describe('a WebSocket', () => {
  const connect = (app: TestApp, origin?: string) =>
    new Promise((resolve) => {
      const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', { origin });
      socket.on('open', () => {
        socket.close();
        resolve('open');
      });
      socket.on('error', ({ message }) => resolve(message));
    });

  test('accepts clients that are not pages, pages of this host, and listed origins', async () => {
    expect(await connect(closed)).toBe('open');
    expect(await connect(closed, closed.url)).toBe('open');
    expect(await connect(open, LISTED)).toBe('open');
  });

  test('refuses pages of other origins', async () => {
    expect(await connect(closed, LISTED)).toBe('Unexpected server response: 403');
    expect(await connect(open, 'https://other.example')).toBe('Unexpected server response: 403');
    expect(await connect(open, 'null')).toBe('Unexpected server response: 403');
  });
});
