import { once } from 'node:events';
import { get } from 'node:http';
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { WAYS } from '../helpers/transports.ts';

/** The tables that resolvers read. */
const TABLES = ['bot', 'deployment', 'session', 'message'];

let app: TestApp;
let tenant: Tenant;
let touched = 0;
beforeAll(async () => {
  const database = await testDatabase();
  const prisma = new Proxy(database.prisma, {
    get: (target, name) => {
      if (TABLES.includes(String(name))) touched += 1;
      return Reflect.get(target, name);
    },
  });
  app = await startApp({ database: { ...database, prisma } });
  tenant = await app.tenant();
});

const times = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));
const nested = (open: string, close: string, depth: number, leaf: string) =>
  `${open.repeat(depth)}${leaf}${close.repeat(depth)}`;
const lines = (count: number, make: (index: number) => string) => times(count, make).join(' ');

const BOTS = 'bots(first: 1) { edges { node { id } } }';
const account = (leaf: string) => `{ viewer { account { ${leaf} } } }`;
const page = (field: string, size: number | string, inner: string) =>
  `${field}(first: ${size}) { edges { node { ${inner} } } }`;

const HOSTILE: Record<string, string> = {
  'a brace': '{',
  'a comment': '# bots',
  'a null byte': '{ bots\0 }',
  'braces without end': nested('{a', '}', 50_000, ''),
  'brackets without end': `{ nodes(ids: ${'['.repeat(50_000)}`,
  'objects without end': `{ bots(first: ${'{a:'.repeat(50_000)}`,
  'a list in a list': `{ nodes(ids: ${nested('[', ']', 21, '"a"')}) { id } }`,
  'an object in an object': `{ runs(botId: "a", filter: ${nested('{a:', '}', 21, '1')}) { edges { cursor } } }`,
  'a long list of names': `{ ${'bots '.repeat(50_000)} }`,
  'many tokens': `{ ${lines(700, (i) => `a${i}: viewer { __typename }`)} }`,
  'many aliases of a field': `{ ${lines(101, (i) => `a${i}: ${BOTS}`)} }`,
  'aliases of a cheap field': `{ ${BOTS} ${lines(101, (i) => `a${i}: __typename`)} }`,
  'aliases in a fragment': `{ ...f ${BOTS} } fragment f on Query { ${lines(101, (i) => `a${i}: __typename`)} }`,
  'one field many times': `{ ${`${BOTS} `.repeat(51)} }`,
  'one name many times': `{ ${BOTS} ${'__typename '.repeat(500)} }`,
  'fields spread over fragments': `{ ${lines(40, (i) => `...f${i}`)} } ${lines(40, (i) => `fragment f${i} on Query { ${`${BOTS} `.repeat(5)} }`)}`,
  'a directive many times': `{ ${BOTS} ${'@include(if: true) '.repeat(51)} }`,
  'directives on many fields': `{ ${lines(51, (i) => `a${i}: __typename @skip(if: false)`)} ${BOTS} }`,
  'an unknown directive': `{ ${BOTS.replace('{', '@evil {')} }`,
  'fragments in fragments in fragments': `{ ...f0 } ${lines(51, (i) => `fragment f${i} on Query { ...f${i + 1} ${BOTS} }`)}`,
  'a fragment that spreads itself': `{ ...f } fragment f on Query { ${BOTS} ...f }`,
  'fragments that spread each other': `{ ...f } fragment f on Query { ${BOTS} ...g } fragment g on Query { ...f }`,
  'a ring of many fragments': `{ ...f0 ${BOTS} } ${lines(180, (i) => `fragment f${i} on Query { ...f${(i + 1) % 180} ...f${(i + 2) % 180} }`)}`,
  'a fragment that spreads itself below': `{ ...f } fragment f on Query { viewer { account { bots { edges { node { ...g } } } } } } fragment g on Bot { runs { edges { node { bot { ...g } } } } }`,
  'a chain that doubles': `{ ...f0 } ${lines(48, (i) => `fragment f${i} on Query { a${i}: viewer { __typename } ${i < 47 ? `...f${i + 1} ...f${i + 1}` : 'nothing'} }`)}`,
  'an unused fragment': `{ ${BOTS} } fragment f on Query { __typename }`,
  'an unknown fragment': `{ ${BOTS} ...nobody }`,
  'a fragment of another type': `{ ${BOTS} ...f } fragment f on Bot { id }`,
  'two fragments of one name': `{ ${BOTS} ...f } fragment f on Query { __typename } fragment f on Query { __typename }`,
  'fragments within themselves without a name': `{ ${nested('... on Query { ', '}', 21, BOTS)} }`,
  'a circular path': account(
    nested('bots { edges { node { activeDeployment { bot { ', '} } } } }', 4, 'id'),
  ),
  'a long path': account(
    `bots(first: 1) { edges { node { runs(first: 1) { edges { node { ${nested('bot { activeDeployment { ', '} }', 7, 'id')} } } } } } }`,
  ),
  'pages of pages': `{ ${page('bots', 100, page('runs', 100, 'id'))} }`,
  'pages of pages from the end': `{ bots(last: 100) { edges { node { runs(last: 100) { edges { node { id } } } } } } }`,
  'pages of pages of pages': `{ ${page('bots', 30, page('sessions', 30, page('messages', 30, 'id')))} }`,
  'pages of their usual size in each other': `{ bots { edges { node { sessions { edges { node { messages { edges { node { run { bot { runs { edges { node { id } } } } } } } } } } } } } } }`,
  'pages in a fragment': `{ ...f } fragment f on Query { ${page('bots', 100, '...g')} } fragment g on Bot { ${page('runs', 100, 'id')} }`,
  'pages under many names': `{ ${lines(20, (i) => `a${i}: ${page('bots', 100, page('runs', 2, 'id'))}`)} }`,
  'pages of a hundred nodes': `{ nodes(ids: [${'"a",'.repeat(100)}]) { ... on Bot { ${page('runs', 50, 'id')} } } }`,
  'pages that are skipped': `{ ${page('bots', 100, page('runs', 100, 'id')).replace('{', '@skip(if: true) {')} }`,
  'statistics of one bot under many names': `{ ${BOTS} bot(id: "a") { ${lines(100, (i) => `a${i}: stats(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { runs }`)} } }`,
  'the schema under many names': `{ ${BOTS} ${lines(90, (i) => `a${i}: __schema { types { name fields { name } } }`)} }`,
  'a chain that doubles to one field': `{ bots { edges { node { ...f0 } } } } ${lines(14, (i) => `fragment f${i} on Bot { ...f${i + 1} ...f${i + 1} }`)} fragment f14 on Bot { id }`,
  'a recursive introspection': `{ ${BOTS} __schema { types { ${nested('fields { type { ', '} }', 8, 'name')} } } }`,
  'fields of one name that differ': `{ ${BOTS} a: viewer { __typename } a: __typename }`,
  'an unknown field': `{ ${BOTS} nothing }`,
  'an unknown argument': '{ bots(first: 1, evil: 1) { edges { cursor } } }',
  'a value of another type': '{ bots(first: "1") { edges { cursor } } }',
  'a number out of range': '{ bots(first: 99999999999999999999) { edges { cursor } } }',
  'undeclared variables': '{ bots(first: $n) { edges { cursor } } }',
  'unused variables': `query (${lines(200, (i) => `$v${i}: Int`)}) { ${BOTS} }`,
  'many operations': lines(51, (i) => `query q${i} { ${BOTS} }`),
  'a type in place of an operation': 'type Query { a: Int }',
  'an extension of the schema': `{ ${BOTS} } extend type Query { a: Int }`,
};

describe.each(Object.entries(WAYS))('over %s', (_name, execute) => {
  test.each(Object.entries(HOSTILE))(
    '%s is refused before the database is read',
    async (_what, query) => {
      touched = 0;
      const results = await execute(app, tenant.apiKey, { query });
      expect(results).toHaveLength(1);
      expect(results[0]?.data).toBeUndefined();
      expect(results[0]?.errors?.[0]).toMatchObject({
        message: expect.stringMatching(/\S/),
        extensions: { code: 'INVALID_REQUEST' },
      });
      expect(touched).toBe(0);
    },
  );

  test('pages within pages are limited by their variables', async () => {
    const query = `query ($n: Int = 100) { bots(first: $n) { edges { node { runs(first: $n) { edges { node { id } } } } } } }`;
    const messageFor = async (variables: Record<string, unknown>) =>
      (await execute(app, tenant.apiKey, { query, variables }))[0]?.errors?.[0]?.message;
    expect(await messageFor({ n: 10 })).toBeUndefined();
    expect(await messageFor({})).toMatch(/up to \d+ objects; at most 10000/);
    expect(await messageFor({ n: 100 })).toMatch(/smaller pages/);
  });

  test('the queries of tools and dashboards succeed', async () => {
    const queries = [
      getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, oneOf: true }),
      `{ ${page('bots', 50, `activeDeployment { id } ${page('runs', 20, 'id status trace { spans { name } }')}`)} }`,
    ];
    for (const query of queries) {
      const results = await execute(app, tenant.apiKey, { query });
      expect(results.flatMap(({ errors }) => errors ?? [])).toEqual([]);
    }
  });
});

describe.each(Object.entries(WAYS))('wrong variables over %s', (_name, execute) => {
  test.each([
    [
      'a long list',
      'query ($names: [String!]) { checkDefinition(source: "", envNames: $names) { valid } }',
      times(50_000, () => '!'),
      1,
    ],
    [
      'a long list in an object',
      'mutation ($names: DeployInput!) { deploy(botId: "x", input: $names) { id } }',
      { source: '', unsetEnvVars: times(50_000, () => '!') },
      1,
    ],
    [
      'a list of many mistakes',
      'query ($names: [String!]) { checkDefinition(source: "", envNames: $names) { valid } }',
      times(1_000, () => '!'),
      1,
    ],
    [
      'a list of many wrong types',
      'query ($names: [String!]) { checkDefinition(source: "", envNames: $names) { valid } }',
      times(1_000, () => ({})),
      51,
    ],
    [
      'a long text of another type',
      'query ($names: Int) { bots(first: $names) { edges { cursor } } }',
      'x'.repeat(500_000),
      1,
    ],
  ])('are refused with a short response: %s', async (_what, query, names, most) => {
    const [result] = await execute(app, tenant.apiKey, { query, variables: { names } });
    expect(result?.errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_REQUEST' } });
    expect(result?.errors?.length).toBeLessThanOrEqual(most);
    expect(JSON.stringify(result).length).toBeLessThan(16_000);
  });
});

describe('variables', () => {
  test.each([
    ['an array in an array', nested('[', ']', 20_000, '')],
    ['an object in an object', nested('{"a":', '}', 20_000, '1')],
  ])('with %s, nested without end, are refused', async (_what, context) => {
    const query = 'mutation ($i: ChatInput!) { chat(botId: "x", input: $i) { runId } }';
    const body = `{"query": ${JSON.stringify(query)}, "variables": {"i": {"message": "Hi", "context": ${context}}}}`;
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...tenant.headers },
      body,
    });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    expect(['INVALID_REQUEST', 'BOT_NOT_FOUND']).toContain(errors[0]?.extensions.code);
  });
});

describe('a slow reader', () => {
  const query = 'query ($source: String!) { checkDefinition(source: $source) { formatted } }';
  const operation = {
    query,
    variables: { source: agent(`prompt "${'x'.repeat(200_000)}"`) },
  };

  test('of a WebSocket is disconnected, without output on the console', async () => {
    const printed = vi.spyOn(console, 'error');
    onTestFinished(() => printed.mockRestore());
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', {
      headers: tenant.headers,
    });
    await once(socket, 'open');
    socket.send('{"type": "connection_init"}');
    await once(socket, 'message');
    socket.pause();
    for (const id of times(100, String)) {
      socket.send(JSON.stringify({ id, type: 'subscribe', payload: operation }));
    }
    // Data that was already sent arrives before the close.
    const closed = once(socket, 'close');
    await expect.poll(() => app.openSockets()).toBe(0);
    socket.resume();
    expect((await closed)[0]).toBe(1006);
    expect(printed).not.toHaveBeenCalled();
  });

  test('of an event stream is disconnected', async () => {
    const reserved = await fetch(`${app.url}/graphql/stream`, {
      method: 'PUT',
      headers: tenant.headers,
    });
    const token = await reserved.text();
    const headers = {
      ...tenant.headers,
      'content-type': 'application/json',
      'x-graphql-event-stream-token': token,
    };
    const stream = get(`${app.url}/graphql/stream`, {
      headers: { ...headers, accept: 'text/event-stream' },
    });
    stream.on('error', () => {});
    const [response] = await once(stream, 'response');
    response.on('error', () => {});
    response.pause();
    const send = (operationId: string) =>
      fetch(`${app.url}/graphql/stream`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...operation, extensions: { operationId } }),
      });
    const statuses = new Set<number>();
    for (const id of times(100, String)) statuses.add((await send(id)).status);
    // The token ends with its connection.
    expect([...statuses]).toEqual([202, 404]);
    stream.destroy();
  });

  test('that does read gets all results', async () => {
    const results = await Promise.all(
      times(60, () => WAYS['SSE on one connection'](app, tenant.apiKey, operation)),
    );
    expect(results.flat().every(({ data }) => data)).toBe(true);
  });
});

describe('a WebSocket', () => {
  test('that does not authenticate is closed after a while', async () => {
    const limited = await startApp({ connectionLimits: { initMs: 100 } });
    const socket = new WebSocket(limited.webSocketUrl, 'graphql-transport-ws');
    expect((await once(socket, 'close'))[0]).toBe(4408);
  });

  test('has at most 200 active operations', async () => {
    app.upstream.script(({ say }) => say('Hello'));
    const bot = await tenant.bot();
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', {
      headers: tenant.headers,
    });
    await once(socket, 'open');
    socket.send('{"type": "connection_init"}');
    await once(socket, 'message');
    for (const id of times(201, String)) {
      const payload = {
        query: `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { runId } }`,
      };
      socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
    }
    expect((await once(socket, 'close'))[0]).toBe(4429);
  });
});
