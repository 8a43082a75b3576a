import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json } from '../attack.ts';

/** Opens connections, writes the same bytes to each, and reads no responses. */
async function unread({ connect, pause, random }: AttackContext, request: string) {
  for (let count = random.int(5, 60); count > 0; count -= 1) connect().pause().write(request);
  await pause(random.int(500, 4_000));
}

/** A request whose body has chunks of one byte, and no end. */
function oneByteBody(line: string, chunks: number, headers = ''): string {
  const head = `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}`;
  return `${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\n{\r\n'.repeat(chunks)}`;
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
  'bodies in one-byte chunks without a key': (context) =>
    unread(context, oneByteBody('POST /graphql', context.random.int(1_000, 20_000))),
  'a body in one-byte chunks with a key': async ({ account, connect, random }) => {
    const path = botPath(account.modelBot, random.pick(['chat', 'execute', 'deploy']));
    const socket = connect();
    const size = random.int(1_000, 1_100_000);
    socket.write(oneByteBody(`POST ${path}`, size, `Authorization: Bearer ${account.apiKey}\r\n`));
    socket.write('0\r\n\r\n');
    await once(socket, 'data');
  },
  'a body that trickles': async ({ connect, pause, random, signal }) => {
    const socket = connect();
    socket.write(oneByteBody(random.pick(['POST /session', 'PUT /graphql/stream']), 1));
    while (!socket.destroyed && !signal.aborted) {
      socket.write('1\r\nx\r\n');
      await pause(random.int(10, 500));
    }
  },
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
  'WebSocket messages in one-byte frames': async ({ target, pause, random, signal }) => {
    const url = `${target.url.replace('http', 'ws')}/graphql/ws`;
    const socket = new WebSocket(url, 'graphql-transport-ws', { signal });
    socket.on('error', () => {});
    await once(socket, 'open');
    for (let left = random.int(100, 200_000); left > 0 && socket.readyState === 1; left -= 1) {
      socket.send('x', { fin: false });
    }
    await pause(random.int(200, 2_000));
    socket.terminate();
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
