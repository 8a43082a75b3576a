import { type BadRequest, json, OPERATIONS, WITH_BODY } from './row.ts';

type Body = Pick<BadRequest, 'body' | 'headers' | 'code' | 'details'>;

const invalid = (body: string, ...details: string[]): Body => ({
  body,
  code: 'invalid_request',
  details,
});

/** The body of an operation, with another content type. */
const typed = (type: string) => ({ headers: { 'content-type': type }, code: 'invalid_request' });

/** Bodies that are not JSON objects, or that are not sent as JSON. */
const NO_BODIES: Record<string, Body> = {
  'half a body': { body: '{"message": ', code: 'invalid_json' },
  'text after the body': { body: '{}x', code: 'invalid_json' },
  'an extra comma': { body: '{"message": "Hi",}', code: 'invalid_json' },
  'single quotes': { body: "{'message': 'Hi'}", code: 'invalid_json' },
  'an invalid number': { body: '{"message": NaN}', code: 'invalid_json' },
  'white space': { body: ' \n', code: 'invalid_json' },
  'a control character in a text': { body: '{"message": "\n"}', code: 'invalid_json' },
  'a byte order mark in the middle': { body: '{\ufeff}', code: 'invalid_json' },
  'invalid UTF-8': { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]), code: 'invalid_json' },
  'half of a UTF-8 character': {
    body: new Uint8Array([0x22, 0xe2, 0x82, 0x22]),
    code: 'invalid_json',
  },
  'a poisoned prototype': {
    body: '{"message": "Hi", "__proto__": {"a": 1}}',
    code: 'invalid_json',
  },
  'a poisoned constructor': {
    body: '{"constructor": {"prototype": {"a": 1}}}',
    code: 'invalid_json',
  },
  'a body over 1 MiB': {
    body: json({ message: 'x'.repeat(1024 * 1024) }),
    code: 'request_too_large',
  },
  'an array': invalid('[]', ''),
  null: invalid('null', ''),
  'a string': invalid('"Hi"', ''),
  'a number': invalid('1e400', ''),
  'a form': { body: 'message=Hi', ...typed('application/x-www-form-urlencoded') },
  'plain text': typed('text/plain'),
  'a nonsense content type': typed('nonsense'),
  'another type of JSON': typed('application/merge-patch+json'),
  'a compressed body': { headers: { 'content-encoding': 'gzip' }, code: 'invalid_request' },
  'an unknown encoding': {
    headers: { 'content-encoding': 'x' },
    code: 'invalid_request',
  },
};

const everywhere = WITH_BODY.flatMap((operation) =>
  Object.entries(NO_BODIES).map(([what, bad]) => ({
    operation,
    what,
    body: OPERATIONS[operation],
    ...bad,
  })),
);

const needed = WITH_BODY.filter((operation) => operation !== 'rollback').flatMap(
  (operation): BadRequest[] => [
    { operation, what: 'no body', code: 'invalid_json' },
    { operation, what: 'an empty body', body: '', code: 'invalid_json' },
    {
      operation,
      what: 'no body and no type',
      headers: { 'content-type': '' },
      code: 'invalid_request',
    },
  ],
);

/** An object whose `length` is not a number. */
const FAKE_LENGTH = { length: { toString: '' } };

/** Invalid values by field. Each is the only invalid value of its body. */
const FIELDS: Record<string, Record<string, unknown[]>> = {
  chat: {
    message: [undefined, null, 1, true, '', [], {}, FAKE_LENGTH, '\0', 'a\ud800', '\udc00a'],
    context: ['x', 1, null, [], { a: ['\0'] }, { '\0': 1 }, { a: { b: '\udfff' } }, nested(40)],
    stream: ['true', 1, null, {}],
    environment: ['test', 'STAGING', '', 1, null, ['staging'], '__proto__', 'constructor'],
  },
  streamChat: { message: [undefined, 5, '\0'], context: [1], stream: ['yes'], environment: ['x'] },
  execute: {
    prompt: [undefined, null, 0, '', [], FAKE_LENGTH, '\0', '\ud800'],
    context: [false, 'x', nested(33)],
    stream: ['true', 0],
    background: ['true', 1, null],
    environment: ['prod', null],
    metadata: ['x', 1, null, [], { a: '\0' }, nested(33)],
    history: ['x', 1, null, {}, FAKE_LENGTH],
  },
  deploy: {
    agentlang: [undefined, null, 1, [], '\0', '\ud800'],
    environment: ['Production', 'test', null, 1],
    message: [1, null, FAKE_LENGTH, '\0', 'x'.repeat(1_001)],
    env_vars: ['x', 1, null, []],
  },
  rollback: { message: [1, null, [], FAKE_LENGTH, '\0', 'x'.repeat(1_001)] },
  createChatCompletion: {
    model: [undefined, null, 1, true, [], {}, FAKE_LENGTH],
    messages: [undefined, null, 'Hi', 1, {}, [], FAKE_LENGTH],
    stream: ['true', 1, {}, []],
    stream_options: ['x', 1, []],
    context: ['x', 1, [], { a: ['\0'] }, { a: { b: '\udfff' } }, nested(40)],
    metadata: ['x', 1, [], { a: '\0' }, nested(33)],
    response_format: ['x', 1, []],
  },
  createResponse: {
    model: [undefined, null, 1, true, [], {}, FAKE_LENGTH],
    input: [undefined, null, 1, {}, [], FAKE_LENGTH, '\0', '\ud800'],
    instructions: [1, {}, '\0', FAKE_LENGTH],
    stream: ['true', 1, {}],
    background: ['true', 1],
    store: ['false', 0],
    previous_response_id: [1, {}, '\0', FAKE_LENGTH],
    conversation: [1, '', 'a b', '\0', []],
    text: ['x', 1, []],
    context: ['x', 1, [], { a: ['\0'] }, nested(40)],
    metadata: ['x', 1, [], { a: '\0' }, nested(33)],
  },
};

const GOOD: Record<string, object> = {
  chat: { message: 'Hi' },
  streamChat: { message: 'Hi' },
  execute: { prompt: 'Hi' },
  deploy: { agentlang: 'agentlang 5' },
  rollback: {},
  createChatCompletion: { model: '{bot}', messages: [{ role: 'user', content: 'Hi' }] },
  createResponse: { model: '{bot}', input: 'Hi' },
};

const fields = Object.entries(FIELDS).flatMap(([operation, names]) =>
  Object.entries(names).flatMap(([name, values]) =>
    values.map((value) => ({
      operation,
      what: `${name}: ${json(value)?.slice(0, 40) ?? 'none'}`,
      ...invalid(json({ ...GOOD[operation], [name]: value }), name),
    })),
  ),
);

/** Variables with an invalid name or value. */
const variables = (
  [
    [{ 'a-b': 'x' }, 'env_vars.a-b'],
    [{ '': 'x' }, 'env_vars.'],
    [{ '1A': 'x' }, 'env_vars.1A'],
    [{ A: 1 }, 'env_vars.A'],
    [{ A: {} }, 'env_vars.A'],
    [{ A: '\0' }, 'env_vars.A'],
    [{ A: 'x'.repeat(32 * 1024 + 1) }, 'env_vars.A'],
    [manyVariables(201), 'env_vars'],
  ] as const
).map(([env_vars, path]) => ({
  operation: 'deploy',
  what: `${path}: ${json(env_vars).slice(0, 40)}`,
  ...invalid(json({ ...GOOD.deploy, env_vars }), path),
}));

const together: BadRequest[] = [
  {
    operation: 'chat',
    what: 'every field invalid',
    headers: { 'x-session-id': 'a b', 'x-on-busy': 'wait', 'idempotency-key': '' },
    ...invalid(
      json({ message: 7, context: 7, stream: 7, environment: 7 }),
      ...['x-session-id', 'x-on-busy', 'idempotency-key'],
      ...['message', 'context', 'stream', 'environment'],
    ),
  },
  {
    operation: 'execute',
    what: 'every field invalid',
    ...invalid(
      json({ context: 7, stream: 7, background: 7, environment: 7, metadata: 7 }),
      ...['prompt', 'context', 'stream', 'background', 'environment', 'metadata'],
    ),
  },
  {
    operation: 'execute',
    what: 'streamed and in the background',
    ...invalid(json({ prompt: 'Hi', stream: true, background: true }), 'stream', 'background'),
  },
  {
    operation: 'execute',
    what: 'streamed and in the background, with more problems',
    ...invalid(
      json({ context: 7, stream: true, background: true }),
      ...['prompt', 'context', 'stream', 'background'],
    ),
  },
  {
    operation: 'deploy',
    what: 'too many variables, some of them invalid',
    ...invalid(
      json({ ...GOOD.deploy, env_vars: { '1A': 'x', ...manyVariables(199), B: 7 } }),
      ...['env_vars.1A', 'env_vars.B', 'env_vars'],
    ),
  },
  {
    operation: 'deploy',
    what: 'every field invalid',
    ...invalid(
      json({ environment: 7, message: 7, env_vars: { 'a-b': 7 } }),
      ...['agentlang', 'environment', 'message', 'env_vars.a-b'],
    ),
  },
  {
    operation: 'chat',
    what: 'a context 100,000 levels deep',
    ...invalid(
      `{"message": "Hi", "context": ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      'context',
    ),
  },
];

function manyVariables(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, '']));
}

function nested(depth: number): object {
  let value = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

export const bodies: BadRequest[] = [
  ...everywhere,
  ...needed,
  ...fields,
  ...variables,
  ...together,
];
