import { WebSocket } from 'ws';
import type { AttackContext, Attacks } from '../attack.ts';
import { json } from '../attack.ts';

const unknownFields = ({ random }: AttackContext, count: number) =>
  Array.from({ length: count }, (_, index) => `f${index}_${random.int(0, 1e9)}`).join(' ');

/** Sends a document over one of the GraphQL transports. */
async function sendDocument(context: AttackContext, query: string, withKey: boolean) {
  const { random } = context;
  const send = withKey ? context.sendWithKey : context.send;
  const encoded = encodeURIComponent(query);
  const ways = [
    () => send({ method: 'POST', path: '/graphql', headers: json, body: { query } }),
    () => send({ path: `/graphql?query=${encoded.slice(0, 12_000)}`, headers: json }),
    () => send({ method: 'POST', path: '/graphql/stream', headers: json, body: { query } }),
    () => send({ path: `/graphql?query=&query=${encoded.slice(0, 6_000)}` }),
    () => subscribe(context, query),
  ] as const;
  await random.pick(ways)();
}

/** Opens a WebSocket, sends the document, and reads one response. */
async function subscribe({ target, account, signal }: AttackContext, query: string) {
  const socket = new WebSocket(
    `${target.url.replace('http', 'ws')}/graphql/ws`,
    'graphql-transport-ws',
    { signal },
  );
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
  });
  socket.on('open', () => {
    const payload = { Authorization: `Bearer ${account.apiKey}` };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
  });
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    if (type === 'connection_ack')
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    else socket.close();
  });
  await ended;
}

/** Documents that are invalid, large or expensive. */
export const documentAttacks: Attacks = {
  'documents of unknown fields': (context) =>
    sendDocument(context, `{ ${unknownFields(context, context.random.int(1, 400))} }`, false),
  'documents of unknown fields, with a key': (context) =>
    sendDocument(context, `{ viewer { ${unknownFields(context, 330)} } }`, true),
  'documents that do not parse': (context) =>
    sendDocument(context, `{ ${'a { '.repeat(context.random.int(1, 3_000))}`, false),
  'documents of unknown variables': (context) => {
    const variables = Array.from({ length: 300 }, (_, index) => `$v${index}: Int`).join(' ');
    return sendDocument(context, `query (${variables}) { viewer { account { id } } }`, true);
  },
  'aliases of full lists': ({ graphql, account }) => {
    const list = `runs(botId: "${account.modelBot}", first: 100) { edges { node { input response trace { spans { attributes } } } } }`;
    return graphql(`{ ${[1, 2, 3, 4, 5, 6].map((alias) => `a${alias}: ${list}`).join(' ')} }`);
  },
  'aliases of statistics': ({ graphql, account }) => {
    const stats =
      'stats(from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z") { runs latencyP95 perDay { runs } }';
    const aliases = Array.from({ length: 100 }, (_, index) => `a${index}: ${stats}`).join(' ');
    return graphql(`{ bot(id: "${account.modelBot}") { ${aliases} } }`);
  },
  'deeply nested variables': ({ random, graphql }) => {
    const depth = random.int(10, 100_000);
    return graphql('query ($context: JSON) { __typename }', {
      context: JSON.parse(
        `${'['.repeat(Math.min(depth, 5_000))}${']'.repeat(Math.min(depth, 5_000))}`,
      ),
    });
  },
  'batches of operations': ({ send, random }) =>
    send({
      method: 'POST',
      path: '/graphql',
      headers: json,
      body: Array.from({ length: random.int(2, 5_000) }, () => ({ query: '{ __typename }' })),
    }),
};
