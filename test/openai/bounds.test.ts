import { beforeAll, describe, expect, test } from 'vitest';
import { openaiRoutes } from '../../src/transport/openai/routes.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import {
  type Answer,
  type Bound,
  type Field,
  fieldsOf,
  MIB,
  nested,
  ofBytes,
  upTo,
  withoutBound,
  x,
} from '../helpers/bounds.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  // An answer for every schema.
  app.upstream.script(({ say, end }) => {
    say('{}');
    end();
  });
});

const FIELDS = fieldsOf(openaiRoutes);

const user = (content: unknown) => ({ role: 'user', content });
const list = (count: number, entry: unknown) => Array.from({ length: count }, () => entry);
const only = (words: string, within: unknown, beyond: unknown): Bound => ({
  words,
  within,
  beyond,
});
const levels = (path?: string): Bound => ({
  words: 'nested at most 32 levels deep',
  within: nested(32),
  beyond: nested(33),
  ...(path && { path }),
});
const bytes = (words: string, most: number): Bound => ({
  words,
  within: ofBytes(most),
  beyond: ofBytes(most + 1),
});

/** The bounds of a form of the reply, which holds a schema at the path. */
const format = (path: string, of: (schema: object) => object): Bound[] => [
  {
    words: 'nested at most 32 levels deep',
    within: of(nested(32, { type: 'object' })),
    beyond: of(nested(33, { type: 'object' })),
    path,
  },
  {
    words: 'at most 16 KiB',
    within: of(ofBytes(16_384, { type: 'object' })),
    beyond: of(ofBytes(16_385, { type: 'object' })),
    path,
  },
];

const context: Bound[] = [
  levels(),
  {
    words: 'at most 10,000 members and entries',
    within: { a: list(9_998, 0) },
    beyond: { a: list(10_001, 0) },
  },
];
const metadata: Bound[] = [levels(), bytes('at most 64 KiB', 65_536)];
const sessionId = upTo('1 to 256 visible characters', 256);

/** The bounds of each field, by its place and name, and by its operation where that matters. */
const BOUNDS: Record<string, Bound[]> = {
  'header X-Session-ID': [sessionId],
  'header Idempotency-Key': [upTo('1 to 255 visible ASCII characters', 255)],
  'query starting_after': [only('at most 9 digits', '9'.repeat(9), '9'.repeat(10))],
  'body messages': [only('at most 500 messages', list(500, user('Hi')), list(501, user('Hi')))],
  'body input': [only('at most 500', list(500, user('Hi')), list(501, user('Hi')))],
  'body instructions': [
    {
      words: 'Only the size of the body limits them',
      within: x(MIB - 1_000),
      beyond: x(MIB),
      refusal: ({ error }) => error?.code,
    },
  ],
  'body conversation': [sessionId],
  'body context': context,
  'body metadata': metadata,
  'body response_format': format('response_format.json_schema.schema', (schema) => ({
    type: 'json_schema',
    json_schema: { name: 'reply', schema },
  })),
  'body text': format('text.format.schema', (schema) => ({
    format: { type: 'json_schema', name: 'reply', schema },
  })),
  'body n': [only('Only 1', 1, 2)],
  'body tools': [only('Only an empty list', [], [{ type: 'function' }])],
  'body functions': [only('Only an empty list', [], [{ name: 'mine' }])],
  'body tool_choice': [only('`none`', 'none', 'required')],
  'body function_call': [only('As `tool_choice`', 'none', { name: 'mine' })],
  'body logprobs': [only('Only `false`', false, true)],
  'body modalities': [only('Only `text`', ['text'], ['text', 'audio'])],
  'body audio': [only('Not supported', null, { voice: 'alloy' })],
  'body prediction': [only('Not supported', null, { type: 'content' })],
};

/** Fields with a required form instead of a size, as their descriptions state it. */
const FORMS: Record<string, string> = {
  'path model': 'ID of the bot',
  'path response_id': 'ID of the response',
  'body model': 'ID of the bot',
  'body previous_response_id': 'Response whose conversation to continue',
  'body stream_options': 'Options of a stream',
  'header traceparent': 'A malformed value is ignored',
  'header X-Request-Id': '1 to 128 visible ASCII characters; any other is replaced',
};

const IGNORED = 'Accepted and ignored';
const isIgnored = ({ description }: Field) => description?.startsWith(IGNORED) ?? false;
const boundsOf = ({ place, name }: Field) => BOUNDS[`${place} ${name}`] ?? [];

/** The required fields of a request that starts a run. */
const bodyOf = (operation: string, model: string) =>
  ({
    createChatCompletion: { model, messages: [user('Hi')] },
    createResponse: { model, input: 'Hi', store: false },
  })[operation];

/** Sends a request with values of some fields to a new bot. */
async function send({ operation, place }: Field, given: Record<string, unknown>) {
  const bot = await tenant.bot();
  const { run_id } = (await (await tenant.chat(bot, { message: 'Hi' })).json()) as Answer & {
    run_id: string;
  };
  const path = operation.path.replace('{model}', bot).replace('{response_id}', run_id);
  const own = bodyOf(operation.operationId, bot);
  // A conversation is not outside of any.
  const { store: _, ...inConversation } = { store: undefined, ...own };
  const body = own && ('conversation' in given ? inConversation : own);
  const texts = Object.entries(given).map(([name, value]) => [name, String(value)]);
  const query = place === 'query' ? `?${new URLSearchParams([['stream', 'true'], ...texts])}` : '';
  const answer = await fetch(`${app.url}${path}${query}`, {
    method: operation.method,
    headers: {
      ...tenant.headers,
      ...(body && { 'content-type': 'application/json' }),
      ...(place === 'header' && Object.fromEntries(texts)),
    },
    body: body && JSON.stringify({ ...body, ...(place === 'body' && given) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, body: (isJson ? JSON.parse(text) : {}) as Answer };
}

describe('the reference states the bound of every field of OpenAI’s API', () => {
  test('a size or a form, or that it has no effect', () => {
    const wordsOf = (field: Field) => {
      const form = FORMS[`${field.place} ${field.name}`];
      if (isIgnored(field)) return [IGNORED];
      return form ? [form] : boundsOf(field).map((bound) => bound.words);
    };
    expect(withoutBound(FIELDS, wordsOf)).toEqual([]);
    expect(FIELDS.length).toBeGreaterThan(60);
  });

  const rows = FIELDS.flatMap((field) =>
    boundsOf(field).map((bound) => ({
      field,
      bound,
      what: `${field.operation.operationId} ${field.place} ${field.name}: ${bound.words}`,
    })),
  );
  test.each(rows)('and the server holds it exactly: $what', async ({ field, bound }) => {
    const { within, beyond, path = field.name.toLowerCase(), refusal } = bound;
    const accepted = await send(field, { [field.name]: within });
    expect([accepted.status, accepted.body.error ?? null]).toEqual([200, null]);
    const { status, body } = await send(field, { [field.name]: beyond });
    expect(status).toBe(400);
    if (refusal) expect(refusal(body)).toBe('request_too_large');
    else expect(body.error?.details?.map((problem) => problem.path)).toEqual([path]);
  });

  test.each(['createChatCompletion', 'createResponse'])(
    'and %s ignores any value of a field without effect',
    async (operationId) => {
      const ignored = FIELDS.filter(
        (field) => field.operation.operationId === operationId && isIgnored(field),
      );
      const [field] = ignored;
      if (!field) throw new Error('No field is ignored.');
      for (const value of [null, -1, 1e308, '', 'x', true, [], {}, [{ a: ['\ud800'] }]]) {
        const given = Object.fromEntries(ignored.map(({ name }) => [name, value]));
        const { store: _, ...others } = given;
        const { status, body } = await send(
          field,
          operationId === 'createResponse' ? others : given,
        );
        expect([value, status, body.error ?? null]).toEqual([value, 200, null]);
      }
    },
  );
});

/** The parts of a conversation that have bounds of their own, by the path of the problem. */
const call = (id: string, name = 'look', text = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
const asked = (calls: ReturnType<typeof call>[]) => [
  user('Hi'),
  { role: 'assistant', content: null, tool_calls: calls },
  ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '1' })),
  user('So?'),
];
const calls = (count: number) => Array.from({ length: count }, (_, at) => call(`call_${at}`));

describe('a part of a conversation is held at its bound', () => {
  test.each<[what: string, within: unknown[], beyond: unknown[], path: string]>([
    ['tool calls of a message', asked(calls(128)), asked(calls(129)), 'messages.1.tool_calls'],
    [
      'the id of a call',
      asked([call(x(256))]),
      asked([call(x(257))]),
      'messages.1.tool_calls.0.id',
    ],
    [
      'the name of a tool',
      asked([call('c', x(256))]),
      asked([call('c', x(257))]),
      'messages.1.tool_calls.0.name',
    ],
    [
      'the size of the whole',
      [user(x(MIB / 2)), user(x(MIB / 2 - 1_000))],
      [user(x(MIB / 2)), user(x(MIB / 2))],
      'request_too_large',
    ],
  ])('%s', async (_what, within, beyond, path) => {
    const model = await tenant.bot();
    const refusal = async (messages: unknown[]) => {
      const answer = await fetch(`${app.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages }),
      });
      const { error } = (await answer.json()) as Answer;
      return error && (error.details?.map((problem) => problem.path) ?? [error.code]);
    };
    expect(await refusal(within)).toBeUndefined();
    expect(await refusal(beyond)).toContain(path);
  });
});
