import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { expectNoLeak, objectCounts } from '../helpers/leaks.ts';

const MIB = 1024 * 1024;
/** In characters. JSON writes each as six, so this is 18 MiB for every client; a run's limit is 4 MiB. */
const FLOOD = 3 * MIB;
const TEXT = '\u0001'.repeat(64 * 1024);

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const RUN_EVENTS =
  'subscription ($bot: ID!, $runId: ID!) { runEvents(botId: $bot, runId: $runId) { __typename ... on TextDelta { delta } } }';

/** Requests a stream, and reads only its first chunk. */
async function neverRead(path: string, accept = '*/*'): Promise<{ socket: Socket; begun: string }> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: test\r\nAccept: ${accept}\r\nAuthorization: ${tenant.headers.authorization}\r\n\r\n`,
  );
  const [begun] = await once(socket, 'data');
  socket.pause();
  return { socket, begun: String(begun) };
}

/** Reserves a connection, never reads its stream, and follows a run over it. */
async function neverReadReserved(variables: object): Promise<{ socket: Socket }> {
  const url = `${app.url}/graphql/stream`;
  const reserved = await fetch(url, { method: 'PUT', headers: tenant.headers });
  const token = await reserved.text();
  const client = await neverRead(`/graphql/stream?token=${token}`, 'text/event-stream');
  const accepted = await fetch(`${url}?token=${token}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query: RUN_EVENTS, variables, extensions: { operationId: '1' } }),
  });
  expect(accepted.status).toBe(202);
  return client;
}

/** The responses that the server begins from now on. */
function watchAnswers() {
  const answers: ServerResponse[] = [];
  const port = new URL(app.url).port;
  const add = (message: unknown) => {
    const { socket, response } = message as { socket: Socket; response: ServerResponse };
    if (String(socket.localPort) === port) answers.push(response);
  };
  subscribe('http.server.request.start', add);
  return { answers, stop: () => unsubscribe('http.server.request.start', add) };
}

describe('clients that do not read a flood of text', () => {
  test('cause backpressure, and leak nothing when they disconnect', async () => {
    const flooded = Promise.withResolvers<void>();
    app.upstream.script(async ({ response, say, closed }) => {
      for (let sent = 0; sent < FLOOD && !response.destroyed; sent += TEXT.length) {
        say(TEXT);
        if (response.writableNeedDrain) await Promise.race([once(response, 'drain'), closed]);
      }
      flooded.resolve();
      await closed;
    });
    const before = await objectCounts();
    const { answers, stop } = watchAnswers();
    const first = await neverRead(`/v1/bots/${bot}/chat/stream?message=Flood`);
    const runId = /x-run-id: (\S+)/i.exec(first.begun)?.[1] ?? '';
    const events = `/v1/bots/${bot}/runs/${runId}/events`;
    const subscription = `?query=${encodeURIComponent(RUN_EVENTS)}&variables=${encodeURIComponent(
      JSON.stringify({ bot, runId }),
    )}`;
    const clients = [
      first,
      await neverRead(events),
      await neverRead(events),
      await neverRead(`/graphql${subscription}`, 'text/event-stream'),
      await neverRead(`/graphql/stream${subscription}`, 'text/event-stream'),
      await neverReadReserved({ bot, runId }),
    ];
    await flooded.promise;
    stop();
    // Two more responses reserved a connection and accepted its operation.
    expect(answers).toHaveLength(clients.length + 2);
    for (const { writableLength } of answers) expect(writableLength).toBeLessThan(MIB);

    for (const { socket } of clients) socket.destroy();
    await expect.poll(app.upstream.openResponses).toBe(0);
    const status = async () =>
      (await app.prisma.run.findUnique({ where: { id: runId }, select: { status: true } }))?.status;
    await expect.poll(status, { interval: 500 }).toBe('CANCELLED');
    answers.length = 0;
    await expectNoLeak(before, {
      // One is the model server's. Each keep-alive connection holds its last, and the two requests that reserved
      // may have had one each.
      answers: 4,
      activeTimers: 6,
      // The database client keeps its last statement.
      heapBytes: 24 * FLOOD,
    });
  });
});
