import { once } from 'node:events';
import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json } from '../attack.ts';

/** Characters of one header: with the rest of the request, less than Node.js' 16 KiB. */
const HEADER_LENGTH = 15_000;

const list = (entry: (index: number) => string, separator = ', ') => {
  const entries: string[] = [];
  for (let index = 0, length = 0; ; index += 1) {
    const next = entry(index);
    length += next.length + separator.length;
    if (length > HEADER_LENGTH) return entries.join(separator);
    entries.push(next);
  }
};

const PAGES = ['/', '/docs', '/graphql', '/chat/demo', '/widget.js', '/v1/openapi.json'] as const;

/** Sends raw bytes, and reads until the server closes the connection or the pause is over. */
async function sendRaw({ connect, pause }: AttackContext, bytes: string, ms: number) {
  const socket = connect().resume();
  socket.write(bytes);
  await Promise.race([once(socket, 'close'), pause(ms)]);
}

/** Requests whose cost is in their headers, or in the form of their body. */
export const headerAttacks: Attacks = {
  'long lists of accepted types': (context) =>
    context.sendWithKey({
      path: context.random.pick(['/graphql?query={__typename}', botPath('demo', 'runs'), ...PAGES]),
      headers: {
        accept: list((index) => `a${index}/b;q=0.${index % 1_000}`),
      },
    }),
  'long lists of accepted encodings': ({ send, random }) =>
    send({
      path: random.pick(PAGES),
      headers: { 'accept-encoding': list((index) => `x${index};q=0.${index % 1_000}`) },
    }),
  'long lists of known versions': ({ send, random }) =>
    send({
      path: random.pick(PAGES),
      headers: { 'if-none-match': list((index) => `W/"${index}"`) },
    }),
  'many ranges of a file': ({ send, random }) =>
    send({
      path: random.pick(PAGES),
      headers: { range: `bytes=${list((index) => `${index}-${index + 1}`)}` },
    }),
  'many cookies of one name': ({ send, random }) =>
    send({
      path: random.pick(['/graphql?query={__typename}', '/chat/demo', '/']),
      headers: {
        cookie: list(() => `parley_console=${random.int(0, 9)}`, '; '),
        'x-parley-console': '1',
      },
    }),
  'long requests of other origins': ({ send }) =>
    send({
      method: 'OPTIONS',
      path: '/graphql',
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': list((index) => `x-${index}`),
      },
    }),
  'headers that appear many times': (context) =>
    sendRaw(
      context,
      `POST ${botPath('demo', 'chat')} HTTP/1.1\r\nHost: a\r\n${`X-Session-ID: ${'語'.repeat(20)}\r\nAuthorization: Bearer x\r\n`.repeat(150)}Content-Length: 2\r\n\r\n{}`,
      2_000,
    ),
  'forms with very many parts': (context) => {
    const part = '--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{}\r\n';
    return context.random.pick([context.send, context.sendWithKey])({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `${part.repeat(15_000)}--b--\r\n`,
    });
  },
  'chunks with long extensions': (context) =>
    sendRaw(
      context,
      `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`1;${'e'.repeat(10_000)}\r\n{\r\n`.repeat(100)}`,
      2_000,
    ),
  'names of built-in properties': async ({ account, sendWithKey, graphql, random }) => {
    const name = random.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty']);
    await sendWithKey({
      method: 'POST',
      path: botPath(account.templateBot, 'chat'),
      headers: { ...json, 'x-session-id': name },
      body: `{"message":"Hello","context":{"${name}":{"a":1}},"${name}":{"a":1}}`,
    });
    await graphql(`query ($${name}: JSON) { ${name} bot(id: "${name}") { id } }`, { [name]: 1 });
  },
  'patterns of a search': ({ graphql }) =>
    graphql('query ($search: String!) { bots(search: $search) { edges { node { id } } } }', {
      search: '%a'.repeat(99),
    }),
  'times and cursors of a MiB': ({ graphql, account, random }) =>
    graphql(
      'query ($botId: ID!, $after: String, $from: DateTime) { runs(botId: $botId, first: 1, after: $after, filter: { from: $from }) { edges { cursor } } }',
      {
        botId: account.modelBot,
        ...random.pick([
          { after: 'A'.repeat(1_000_000) },
          { from: `2026-01-01T00:00:00.${'0'.repeat(1_000_000)}Z` },
        ]),
      },
    ),
  'names that differ only in their Unicode form': ({ account, sendWithKey, random }) => {
    const letter = random.pick(['\u00e9', 'e\u0301', '\ufb01', '\u{1d7d8}', '\u0130']);
    return sendWithKey({
      method: 'POST',
      path: botPath(account.templateBot, 'chat'),
      headers: json,
      body: { message: 'Hello', session_id: letter.repeat(100) },
    });
  },
};
