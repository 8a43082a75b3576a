/**
 * A server for the test of the measurement: `/compute?ms=` uses its CPU for so long, `/delay?ms=` makes `/healthz` wait for
 * so long without using it.
 */
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

let delayed: Promise<unknown> = Promise.resolve();

function compute(ms: number) {
  const { user, system } = process.threadCpuUsage();
  const spent = () => {
    const now = process.threadCpuUsage();
    return (now.user + now.system - user - system) / 1_000;
  };
  while (spent() < ms);
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const ms = Number(searchParams.get('ms'));
  if (pathname === '/compute') compute(ms);
  if (pathname === '/delay') delayed = setTimeout(ms);
  await delayed;
  response.end();
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`listening on http://127.0.0.1:${address?.port}`);
});
