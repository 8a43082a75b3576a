import type { AttackContext, Attacks } from '../attack.ts';
import { json, MCP_VERSION, mcpHeaders } from '../attack.ts';

/** Bytes of a body that is not refused for its size alone. */
const BODY_BYTES = 1_000_000;

const completion = ({ sendWithKey, account }: AttackContext, body: object) =>
  sendWithKey({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: json,
    body: { model: account.templateBot, messages: [user('Hello')], ...body },
  });

const user = (content: unknown) => ({ role: 'user', content });
const repeat = <Item>(bytes: number, item: Item): Item[] =>
  Array.from({ length: Math.floor(bytes / (JSON.stringify(item).length + 1)) }, () => item);

const mcp = ({ sendWithKey }: AttackContext, body: object | string, query = '') =>
  sendWithKey({
    method: 'POST',
    path: `/mcp${query}`,
    headers: mcpHeaders,
    body,
  });

const message = (method: string, params: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Writes a request with the key to some connections, and reads no response. */
async function unread(
  { account, connect, pause, random }: AttackContext,
  path: string,
  body: object,
) {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${account.apiKey}`,
    ...Object.entries(mcpHeaders).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${text.length}`,
  ];
  for (let count = random.int(1, 8); count > 0; count -= 1)
    connect()
      .pause()
      .write(`${head.join('\r\n')}\r\n\r\n${text}`);
  await pause(random.int(500, 5_000));
}

/** A schema whose levels name the next one twice, so that a copy of each would double with each level. */
function doublingSchema(levels: number): object {
  const level = (index: number) => {
    const next = { $ref: `#/$defs/l${index + 1}` };
    return { type: 'object', properties: { a: next, b: next } };
  };
  const names = Array.from({ length: levels }, (_, index) => [`l${index}`, level(index)]);
  return { ...level(0), $defs: Object.fromEntries([...names, [`l${levels}`, { type: 'string' }]]) };
}

const SCHEMAS: [() => object, ...(() => object)[]] = [
  () => doublingSchema(60),
  () => ({ $ref: '#' }),
  () => ({ type: 'string', pattern: '^(a+)+$' }),
  () => ({ enum: repeat(BODY_BYTES, 'a') }),
  () => ({ allOf: repeat(BODY_BYTES, { anyOf: [{ type: 'string' }, { type: 'object' }] }) }),
];

/** Attacks through the API of OpenAI and the Model Context Protocol. */
export const entranceAttacks: Attacks = {
  'completions with many messages': (context) =>
    completion(context, { messages: repeat(BODY_BYTES, user('a')) }),
  'completions with many parts of a text': (context) =>
    completion(context, { messages: [user(repeat(BODY_BYTES, { type: 'text', text: '' }))] }),
  'completions with a long history': (context) =>
    completion(context, { messages: Array.from({ length: 499 }, () => user('x'.repeat(1_900))) }),
  'completions with instructions of a megabyte': (context) =>
    completion(context, {
      messages: [{ role: 'system', content: '{{ context }}'.repeat(70_000) }, user('Hello')],
    }),
  'completions with a hostile schema': (context) =>
    completion(context, {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', strict: true, schema: context.random.pick(SCHEMAS)() },
      },
    }),
  'completions with unknown members': (context) =>
    completion(
      context,
      Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`member${index}`, 1])),
    ),
  'completions that nobody reads': (context) =>
    unread(context, '/v1/chat/completions', {
      model: context.account.modelBot,
      messages: [user('tiny deltas')],
      stream: true,
    }),
  'responses with many items': (context) =>
    context.sendWithKey({
      method: 'POST',
      path: '/v1/responses',
      headers: json,
      body: {
        model: context.account.templateBot,
        input: repeat(BODY_BYTES, { type: 'function_call_output', call_id: 'a', output: '' }),
      },
    }),
  'responses that nobody reads': (context) =>
    unread(context, '/v1/responses', {
      model: context.account.modelBot,
      input: 'tiny deltas',
      stream: true,
    }),
  'a response that is replayed in a loop': async ({ account, sendWithKey, signal }) => {
    const { text } = await sendWithKey({
      method: 'POST',
      path: '/v1/responses',
      headers: json,
      body: { model: account.modelBot, input: 'tiny deltas' },
    });
    const id = /run_\w+/.exec(text)?.[0];
    for (let count = 0; id && count < 30 && !signal.aborted; count += 1)
      await sendWithKey({ path: `/v1/responses/${id}?stream=true&starting_after=0` });
  },
  "another tenant's model": async (context) => {
    await completion(context, { model: 'honest' });
    await context.sendWithKey({ path: '/v1/models/honest' });
    await mcp(context, message('tools/call', { name: 'honest', arguments: { message: 'Hello' } }));
  },
  'batches of MCP messages': (context) => mcp(context, repeat(BODY_BYTES, message('ping', {}))),
  'MCP connections without an end': (context) =>
    Promise.all(
      Array.from({ length: 50 }, () =>
        mcp(
          context,
          message('initialize', {
            protocolVersion: MCP_VERSION,
            capabilities: { experimental: { a: { b: 'x'.repeat(10_000) } } },
            clientInfo: { name: 'n'.repeat(10_000), version: '1' },
          }),
        ),
      ),
    ),
  'names of many bots in an MCP address': (context) =>
    mcp(context, message('tools/list', {}), `?bots=${'a,'.repeat(7_000)}`),
  'MCP messages of deep JSON': (context) => {
    const depth = context.random.int(1_000, 400_000);
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    return mcp(
      context,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${context.account.templateBot}","arguments":{"message":"a","context":{"a":${deep}}}}}`,
    );
  },
  'MCP messages with large ids': (context) =>
    mcp(context, message('a'.repeat(300_000), {}, 'i'.repeat(600_000))),
  'MCP calls that nobody reads': (context) =>
    unread(
      context,
      '/mcp',
      message('tools/call', {
        name: context.account.modelBot,
        arguments: { message: 'tiny deltas' },
        _meta: { progressToken: 1 },
      }),
    ),
  'MCP resources of made-up runs': (context) =>
    mcp(
      context,
      message('resources/read', { uri: `parley://bots/honest/runs/${'%2e'.repeat(50_000)}` }),
    ),
};
