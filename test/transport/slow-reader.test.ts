import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { objectCounts, expectNoLeak } from '../helpers/leaks.ts';

const MIB = 1024 * 1024;
/** In characters, each of which JSON writes as six: 18 MiB for every client, of the 4 MiB that a run may say. */
const FLOOD = 3 * MIB;
const WORDS = '\u0001'.repeat(64 * 1024);

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

/** Asks for a stream, and reads nothing of it but so much as shows that it has begun. */
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

/** Reserves a connection for many operations, never reads its stream, and follows a run by it. */
async function neverReadReserved(variables: object): Promise<{ socket: Socket }> {
  const url = `${app.url}/graphql/stream`;
  const reserved = await fetch(url, { method: 'PUT', headers: tenant.headers });
  const token = await reserved.text();
  const client = await neverRead(`/graphql/stream?token=${token}`, 'text/event-stream');
  const asked = await fetch(`${url}?token=${token}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query: RUN_EVENTS, variables, extensions: { operationId: '1' } }),
  });
  expect(asked.status).toBe(202);
  return client;
}

/** The answers that the server gives from now on. */
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

describe('clients that read nothing of what a model floods them with', () => {
  test('make the server wait for them, and leave nothing behind when they go', async () => {
    const flooded = Promise.withResolvers<void>();
    app.upstream.script(async ({ response, say, closed }) => {
      for (let sent = 0; sent < FLOOD && !response.destroyed; sent += WORDS.length) {
        say(WORDS);
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
    // Two more were to reserve a connection, and to ask by it.
    expect(answers).toHaveLength(clients.length + 2);
    for (const { writableLength } of answers) expect(writableLength).toBeLessThan(MIB);

    for (const { socket } of clients) socket.destroy();
    await expect.poll(app.upstream.openResponses).toBe(0);
    const status = async () =>
      (await app.prisma.run.findUnique({ where: { id: runId }, select: { status: true } }))?.status;
    await expect.poll(status, { interval: 500 }).toBe('CANCELLED');
    answers.length = 0;
    await expectNoLeak(before, {
      // One is the model's own, and one was the last on a connection that is kept.
      answers: 3,
      activeTimers: 6,
      // The database's client keeps its last statement.
      heapBytes: 24 * FLOOD,
    });
  });
});
