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

/** What CORS says in an answer: every header of it. */
const cors = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const ask = (url: string, method: string, origin: string) =>
  fetch(url, {
    method,
    headers: { origin, 'content-type': 'application/json', accept: 'text/event-stream' },
    ...(method === 'POST' && { body: '{"query": "{ __typename }"}' }),
  });

const PATHS = ['/graphql', '/graphql/stream'];

describe('a page of a listed origin', () => {
  test.each(PATHS)('may call %s', async (path) => {
    const preflight = await ask(open.url + path, 'OPTIONS', LISTED);
    expect(preflight.status).toBe(204);
    expect(cors(preflight)).toMatchObject({
      'access-control-allow-origin': LISTED,
      'access-control-allow-headers': expect.stringContaining('Authorization'),
      'access-control-allow-methods': expect.stringContaining('POST'),
    });
    const answer = await ask(open.url + path, 'POST', LISTED);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(LISTED);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toContain('Origin');
    await answer.text();
  });

  test('reads errors too', async () => {
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
    ['without an origin of its own', () => open, 'null'],
    ['where none is listed', () => closed, LISTED],
  ])('%s gets no CORS header anywhere', async (_what, app, origin) => {
    for (const path of [...PATHS, '/v1/bots/x/runs', '/v1/openapi.json', '/healthz', '/docs']) {
      for (const method of ['OPTIONS', 'POST', 'GET']) {
        const answer = await ask(app().url + path, method, origin);
        expect(cors(answer), `${method} ${path}`).toEqual({});
        await answer.body?.cancel();
      }
    }
  });

  test('never reads the REST interface, listed or not', async () => {
    expect(cors(await ask(`${open.url}/v1/bots/x/runs`, 'GET', LISTED))).toEqual({});
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

  test('is opened by what is no page, by a page of this host, and by listed origins', async () => {
    expect(await connect(closed)).toBe('open');
    expect(await connect(closed, closed.url)).toBe('open');
    expect(await connect(open, LISTED)).toBe('open');
  });

  test('is not opened by pages of other origins', async () => {
    expect(await connect(closed, LISTED)).toBe('Unexpected server response: 403');
    expect(await connect(open, 'https://other.example')).toBe('Unexpected server response: 403');
    expect(await connect(open, 'null')).toBe('Unexpected server response: 403');
  });
});
