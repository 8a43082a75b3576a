import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { StartupError } from '../../src/errors/errors.ts';
import { Chat, ChatStream, ListDeployments } from '../../src/generated/operations/rest.ts';
import { schema } from '../../src/schema/index.ts';
import { createDocuments } from '../../src/transport/graphql/documents.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { WAYS } from '../helpers/transports.ts';

const shaOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

const VIEWER =
  'query Viewer { viewer { account { id } } bots(first: 1) { edges { node { id } } } }';
const UNKNOWN = shaOf('{ nothing }');

let app: TestApp;
let closed: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  const manifest = { viewer: VIEWER };
  // All requests are in one rate-limit minute.
  const now = Date.now();
  const clock = () => now;
  app = await startApp({ clock, persistedDocuments: { manifest } });
  closed = await startApp({ clock, persistedDocuments: { manifest, only: true } });
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const ways = Object.entries(WAYS);

const post = (path: string, body: object, { url } = app) =>
  fetch(url + path, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const get = (path: string, parameters: Record<string, string>, accept: string, { url } = app) =>
  fetch(`${url}${path}?${new URLSearchParams(parameters)}`, {
    headers: { ...tenant.headers, accept },
  });

/** The first message for an operation over a bare WebSocket. */
async function bySocket(payload: object, { webSocketUrl } = app) {
  const socket = new WebSocket(webSocketUrl, 'graphql-transport-ws', { headers: tenant.headers });
  const message = async () => JSON.parse(String((await once(socket, 'message'))[0]));
  await once(socket, 'open');
  socket.send('{"type": "connection_init"}');
  await message();
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
  const first = await message();
  socket.close();
  return first;
}

describe('a persisted document', () => {
  test.each(ways)('runs by the hash of its text over %s', async (_way, execute) => {
    const variables = { botId: bot, first: 1 };
    const { document } = ListDeployments;
    const byId = await execute(app, tenant.apiKey, {
      query: '',
      documentId: shaOf(document),
      variables,
    });
    expect(byId).toMatchObject([{ data: { bot: { deployments: { edges: [{}] } } } }]);
    expect(byId).toEqual(await execute(app, tenant.apiKey, { query: document, variables }));
  });

  test.each(ways)('streams a subscription over %s', async (_way, execute) => {
    const variables = { botId: bot, input: { message: 'Hi', sessionId: randomUUID() } };
    const documentId = shaOf(ChatStream.document);
    const events = await execute(app, tenant.apiKey, { query: '', documentId, variables });
    expect(events.at(0)).toMatchObject({ data: { event: { type: 'RunStarted' } } });
    expect(events.at(-1)).toMatchObject({ data: { event: { type: 'ChatDone' } } });
  });

  test.each(ways)('runs by its name in the manifest over %s', async (_way, execute) => {
    const [result] = await execute(app, tenant.apiKey, { query: '', documentId: 'viewer' });
    expect(result).toMatchObject({ data: { viewer: { account: { id: tenant.accountId } } } });
  });

  test('runs by GET, and by WebSocket without a query', async () => {
    const expected = { data: { viewer: { account: { id: tenant.accountId } } } };
    const byGet = await get('/graphql', { documentId: 'viewer' }, 'application/json');
    expect(await byGet.json()).toMatchObject(expected);
    const events = await get('/graphql/stream', { documentId: 'viewer' }, 'text/event-stream');
    expect(await events.text()).toContain(tenant.accountId);
    expect(await bySocket({ documentId: 'viewer' })).toMatchObject({
      type: 'next',
      payload: expected,
    });
  });

  test('costs as many requests as its text', async () => {
    const remaining = async (body: object) =>
      Number((await post('/graphql', body)).headers.get('x-ratelimit-remaining'));
    const costs: number[] = [];
    for (const body of [{ query: VIEWER }, { documentId: 'viewer' }]) {
      const before = await remaining({ query: '{ viewer { account { id } } }' });
      costs.push(before - (await remaining(body)));
    }
    expect(costs).toEqual([2, 2]);
  });

  test('is refused by GET if it is a mutation', async () => {
    const mutation = { rename: 'mutation { cancelRun(id: "run_1") { id } }' };
    const other = await startApp({ persistedDocuments: { manifest: mutation } });
    const answer = await get('/graphql', { documentId: 'rename' }, 'application/json', other);
    expect(answer.status).toBe(405);
  });
});

const REFUSED = [
  ['an unknown id', { documentId: UNKNOWN }, 404, 'NOT_FOUND'],
  ['an id that is a property name', { documentId: 'toString' }, 404, 'NOT_FOUND'],
  ['an id that is not a string', { documentId: 1 }, 400, 'INVALID_REQUEST'],
  ['an id and a query', { documentId: 'viewer', query: VIEWER }, 400, 'INVALID_REQUEST'],
] as const;

const PLAIN_TEXT = ['a query', { query: VIEWER }, 400, 'INVALID_REQUEST'] as const;

const expectRefused = async (to: TestApp, body: object, status: number, code: string) => {
  const error = { message: expect.stringMatching(/\S/), extensions: { code } };
  for (const path of ['/graphql', '/graphql/stream']) {
    const answer = await post(path, body, to);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ errors: [error] });
  }
  const parameters = Object.entries(body).map(([name, value]) => [name, String(value)]);
  const answers = [
    await get('/graphql', Object.fromEntries(parameters), 'application/json', to),
    await get('/graphql/stream', Object.fromEntries(parameters), 'text/event-stream', to),
  ];
  // In a URL, every value is a string, including an id.
  const byGet = 'documentId' in body && !('query' in body) ? 404 : status;
  expect(answers.map((answer) => answer.status)).toEqual([byGet, byGet]);
  expect(await bySocket(body, to)).toMatchObject({ type: 'error', payload: [error] });
};

describe('a request by id', () => {
  test.each(REFUSED)('is refused with %s', async (_what, body, status, code) => {
    await expectRefused(app, body, status, code);
  });
});

describe('a client with the id of an earlier version', () => {
  // The chat document of 0.1.0, before it selected `output`.
  const old = Chat.document.replace(/^.*\boutput\b.*\n/m, '');

  test('gets an error with the reason and the remedy', async () => {
    expect(old).not.toBe(Chat.document);
    const messageAt = async (to: TestApp) => {
      const { errors } = await (await post('/graphql', { documentId: shaOf(old) }, to)).json();
      return errors[0].message;
    };
    const reason =
      "There is no document with this documentId. A document's id changes with its text, and a new version of Parley can change its own documents.";
    expect([await messageAt(app), await messageAt(closed)]).toEqual([
      `${reason} Send the id of the current text, or the text as query.`,
      `${reason} Send the id of the current text.`,
    ]);
  });

  test('can still use it if the operator keeps the text in the manifest', async () => {
    const kept = await startApp({ persistedDocuments: { manifest: { old } } });
    const owner = await kept.tenant();
    const body = {
      documentId: shaOf(old),
      variables: { botId: await owner.bot(), input: { message: 'Hi' } },
    };
    const answer = await fetch(`${kept.url}/graphql`, {
      method: 'POST',
      headers: { ...owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await answer.json()).toMatchObject({ data: { chat: { response: 'Hello there.' } } });
  });
});

describe('a server that runs only persisted documents', () => {
  test.each([PLAIN_TEXT, ...REFUSED])('refuses %s', async (_what, body, status, code) => {
    await expectRefused(closed, body, status, code);
  });

  test.each(ways)('runs them over %s', async (_way, execute) => {
    const [result] = await execute(closed, tenant.apiKey, { query: '', documentId: 'viewer' });
    expect(result).toMatchObject({ data: { viewer: { account: { id: tenant.accountId } } } });
  });

  test('still serves REST and GraphiQL', async () => {
    expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);
    const page = await fetch(`${closed.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
  });
});

describe('a query that is not persisted cannot be smuggled in', () => {
  const HIDDEN = '{viewer{account{id}}}';
  const CHAT = 'subscription{chat(botId:"x",input:{message:"Hi"}){__typename}}';
  const ADDRESSES = [
    `query=&query=${HIDDEN}`,
    `query=${HIDDEN}&query=`,
    `query=&%71uery=${HIDDEN}`,
    `query=&query=${CHAT}`,
    `documentId=viewer&query=${HIDDEN}`,
    `documentId=viewer&query=&query=${HIDDEN}`,
    `documentId=viewer&documentId=${UNKNOWN}&query=${HIDDEN}`,
    `documentId=viewer&documentId=viewer`,
    `documentId=viewer&document%49d=${UNKNOWN}`,
    `documentId=&query=${HIDDEN}`,
    `documentId=viewer&variables={}&variables={"a":1}`,
    `query=${HIDDEN}?query=`,
    `?query=&query=${HIDDEN}`,
    `query[]=${HIDDEN}`,
    `extensions={"persistedQuery":{"version":1,"sha256Hash":"${'a'.repeat(64)}"}}&query=${HIDDEN}`,
  ];
  const isRefused = (text: string) => {
    expect(text).toMatch(/"code":"(INVALID_REQUEST|NOT_FOUND)"/);
    expect(text).not.toContain('"data"');
  };

  test.each(ADDRESSES)('by GET: %s', async (address) => {
    for (const [path, accept] of [
      ['/graphql', 'application/json'],
      ['/graphql', 'text/event-stream'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const answer = await fetch(`${closed.url}${path}?${address}`, {
        headers: { ...tenant.headers, accept },
      });
      if (address.startsWith('query[]')) expect(answer.status).toBe(400);
      else isRefused(await answer.text());
    }
  });

  test.each(ADDRESSES)('in the URL of a POST: %s', async (address) => {
    for (const path of ['/graphql', '/graphql/stream']) {
      isRefused(await (await post(`${path}?${address}`, { query: '' }, closed)).text());
    }
  });

  test.each([
    ['a batch', 'application/json', `[{"query":"${HIDDEN}"}]`],
    ['a batch in a query', 'application/json', `{"query":["${HIDDEN}"]}`],
    ['a repeated name', 'application/json', `{"query":"","query":"${HIDDEN}"}`],
    [
      'a hash',
      'application/json',
      `{"query":"${HIDDEN}","extensions":{"persistedQuery":{"version":1,"sha256Hash":"${shaOf(HIDDEN).slice(7)}"}}}`,
    ],
    ['another letter case', 'application/json', `{"Query":"${HIDDEN}","documentid":"viewer"}`],
    ['plain GraphQL', 'application/graphql', HIDDEN],
    ['JSON under another type', 'application/graphql+json', `{"query":"${HIDDEN}"}`],
    ['a form', 'application/x-www-form-urlencoded', `query=${HIDDEN}`],
    ['two types', 'application/json, application/graphql', HIDDEN],
    [
      'multipart parts',
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"${HIDDEN}"}\r\n--x--\r\n`,
    ],
  ])('in the body of a POST: %s', async (_what, contentType, body) => {
    for (const path of ['/graphql', '/graphql/stream']) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const headers = { ...tenant.headers, 'content-type': contentType, accept };
        const answer = await fetch(closed.url + path, { method: 'POST', headers, body });
        expect(answer.status).toBe(400);
        isRefused(await answer.text());
      }
    }
  });

  test('over a reserved connection', async () => {
    const url = `${closed.url}/graphql/stream`;
    const { headers } = tenant;
    const token = await (await fetch(url, { method: 'PUT', headers })).text();
    const extensions = JSON.stringify({ operationId: 'one' });
    for (const address of ADDRESSES) {
      const at = `${url}?token=${token}&extensions=${extensions}&${address}`;
      if (!address.startsWith('query[]')) isRefused(await (await fetch(at, { headers })).text());
    }
    const body = { query: HIDDEN, extensions: { operationId: 'one' } };
    isRefused(await (await post(`/graphql/stream?token=${token}`, body, closed)).text());
  });

  test.each([
    ['a query beside a null id', { query: HIDDEN, documentId: null }],
    ['a hash', { query: HIDDEN, extensions: { persistedQuery: { version: 1 } } }],
    ['no query', { query: '' }],
    ['a known id and another query', { documentId: 'viewer', query: HIDDEN }],
    ['an empty id', { query: HIDDEN, documentId: '' }],
  ])('over a WebSocket, with %s', async (_what, payload) => {
    const code = expect.stringMatching(/INVALID_REQUEST|NOT_FOUND/);
    expect(await bySocket(payload, closed)).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code } }],
    });
  });
});

describe('a request whose URL repeats a parameter', () => {
  test.each([
    ['GET', '/graphql'],
    ['POST', '/graphql'],
    ['GET', '/graphql/stream'],
    ['POST', '/graphql/stream'],
    ['PUT', '/graphql/stream'],
    ['DELETE', '/graphql/stream'],
  ])('is refused: %s %s', async (method, path) => {
    const answer = await fetch(`${app.url}${path}?a=1&query={__typename}&%61=2`, {
      method,
      headers: {
        ...tenant.headers,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      ...(method === 'POST' && { body: '{"query": "{ __typename }"}' }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      errors: [
        { message: expect.stringMatching(/repeated/), extensions: { code: 'INVALID_REQUEST' } },
      ],
    });
  });
});

describe('a manifest', () => {
  test('with invalid documents prevents the start, with one error for each problem', () => {
    const manifest = { a: '{ nothing }', b: '{', [UNKNOWN]: VIEWER, viewer: VIEWER };
    const start = () => createDocuments(schema, { manifest });
    expect(start).toThrow(StartupError);
    expect(start).toThrow(
      [
        'PARLEY_PERSISTED_DOCUMENTS a: Cannot query field "nothing" on type "Query".',
        'PARLEY_PERSISTED_DOCUMENTS b: Syntax Error: Expected Name, found <EOF>.',
        `PARLEY_PERSISTED_DOCUMENTS ${UNKNOWN}: is not the hash of its document`,
      ].join('\n'),
    );
  });
});
