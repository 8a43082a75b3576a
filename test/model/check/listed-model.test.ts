import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findShutdownDate } from '../../../src/model/check/listed-model.ts';

/** Milliseconds that no answer of these servers needs. */
const LONG_MS = 60_000;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const list = (...data: unknown[]) => JSON.stringify({ object: 'list', data });

test('the end of a model is that in the list of its server', async () => {
  const urls: (string | undefined)[] = [];
  const baseUrl = await serve(({ url, headers }, response) => {
    urls.push(url, headers.authorization);
    response.end(
      list({ id: 'a', shutdown_date: null }, { id: 'b', shutdown_date: '2027-01-14' }, null, 'c'),
    );
  });
  const server = { apiKey: 'sk-x', baseUrl: `${baseUrl}?api-version=1` };
  expect(await findShutdownDate(server, 'b', LONG_MS)).toBe('2027-01-14');
  expect(await findShutdownDate(server, 'a', LONG_MS)).toBeUndefined();
  expect(await findShutdownDate(server, 'c', LONG_MS)).toBeUndefined();
  expect(urls.slice(0, 2)).toEqual(['/v1/models?api-version=1', 'Bearer sk-x']);
});

test.each<[string, RequestListener]>([
  ['has no list', (_request, response) => void response.writeHead(404).end(list({ id: 'm' }))],
  ['answers with HTML', (_request, response) => void response.end('<html>')],
  [
    'sends a date that is none',
    (_request, response) => {
      response.end(list({ id: 'm', shutdown_date: 'soon' }));
    },
  ],
  [
    'sends an endless list',
    (_request, response) => {
      const write = () => {
        while (response.write(' '.repeat(64 * 1024)));
        response.once('drain', write);
      };
      write();
    },
  ],
  ['breaks off', ({ socket }) => void socket.destroy()],
])('a server that %s names no end', async (_what, listener) => {
  const server = { apiKey: undefined, baseUrl: await serve(listener) };
  expect(await findShutdownDate(server, 'm', LONG_MS)).toBeUndefined();
});

test('a server that does not answer names no end', async () => {
  const server = { apiKey: undefined, baseUrl: await serve(() => {}) };
  expect(await findShutdownDate(server, 'm', 50)).toBeUndefined();
});
