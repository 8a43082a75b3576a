import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json } from '../attack.ts';

/** Opens connections, writes the same bytes to each, and reads no responses. */
async function unread({ connect, pause, random }: AttackContext, request: string) {
  for (let count = random.int(5, 60); count > 0; count -= 1) connect().pause().write(request);
  await pause(random.int(500, 4_000));
}

/** Attacks with raw bytes and connections, below GraphQL and REST. */
export const socketAttacks: Attacks = {
  'unread GraphiQL pages': (context) =>
    unread(context, 'GET /graphql HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n'.repeat(5)),
  'unread OpenAPI documents': (context) =>
    unread(context, 'GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20)),
  'requests without an end': (context) =>
    unread(context, `POST /graphql HTTP/1.1\r\nHost: a\r\nX-${context.random.int(0, 1e9)}: `),
  'bodies without an end': (context) =>
    unread(
      context,
      'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"query": "',
    ),
  'bytes that are not HTTP': async ({ connect, random }) => {
    const socket = connect();
    const length = random.int(1, 100_000);
    socket.end(Buffer.from(Array.from({ length }, () => random.int(0, 255))));
    socket.resume();
    await once(socket, 'close');
  },
  'very many headers': async ({ connect, random }) => {
    const headers = Array.from(
      { length: random.int(100, 5_000) },
      (_, index) => `X-${index}: 1\r\n`,
    );
    const socket = connect();
    socket.end(`GET /healthz HTTP/1.1\r\nHost: a\r\n${headers.join('')}\r\n`).resume();
    await once(socket, 'close');
  },
  'random keys': async ({ send, random }) => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    const secret = Array.from({ length: 49 }, () => letters[random.int(0, 61)]).join('');
    await send({
      path: botPath('demo', 'runs'),
      headers: { authorization: `Bearer parley_sk_${secret}` },
    });
  },
  'bodies of deep JSON': ({ account, sendWithKey, random }) => {
    const depth = random.int(1_000, 400_000);
    const context = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    return sendWithKey({
      method: 'POST',
      path: botPath(account.modelBot, random.pick(['chat', 'execute', 'deploy'])),
      headers: json,
      body: `{"message":"Hello","prompt":"Hello","agentlang":"x","context":${context}}`.slice(
        0,
        1_040_000,
      ),
    });
  },
  'reserved connections': ({ send, sendWithKey, random }) =>
    random.pick([send, sendWithKey])({ method: 'PUT', path: '/graphql/stream' }),
  'WebSockets without a first message': async ({ target, signal, pause, random }) => {
    const sockets = Array.from(
      { length: random.int(1, 40) },
      () =>
        new WebSocket(`${target.url.replace('http', 'ws')}/graphql/ws`, 'graphql-transport-ws', {
          signal,
        }),
    );
    for (const socket of sockets) socket.on('error', () => {});
    await pause(random.int(200, 2_000));
    for (const socket of sockets) socket.terminate();
  },
  'large WebSocket messages': async ({ target, account, signal, random }) => {
    const socket = new WebSocket(
      `${target.url.replace('http', 'ws')}/graphql/ws`,
      'graphql-transport-ws',
      {
        signal,
      },
    );
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('error', () => resolve());
    });
    socket.on('open', () => {
      const payload = { Authorization: `Bearer ${account.apiKey}` };
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      socket.send(
        JSON.stringify({
          id: '1',
          type: 'subscribe',
          payload: { query: 'x'.repeat(random.int(1e5, 3e7)) },
        }),
      );
    });
    socket.on('message', (data) => String(data).includes('"1"') && socket.close());
    await closed;
  },
};
