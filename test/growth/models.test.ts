import { describe, expect, test } from 'vitest';
import { collectTools } from '../../src/agent/mcp/listing.ts';
import { textOf } from '../../src/agent/mcp/result.ts';
import { problemsOf } from '../../src/agent/tools/schema-check.ts';
import { assembleAnswer } from '../../src/model/answer.ts';
import { readChunks } from '../../src/model/chunks.ts';
import { writeMessages } from '../../src/model/messages.ts';
import type { ModelMessage } from '../../src/model/model.ts';
import { createAnswerBudget } from '../../src/model/pieces.ts';
import { createRedactor } from '../../src/redaction/redact.ts';
import type { JsonObject, JsonValue } from '../../src/text/json.ts';
import { expectLinear, repeatTo } from '../helpers/growth.ts';

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A value within this number of lists. */
const nested = (levels: number, value: JsonValue): JsonValue =>
  levels === 0 ? value : [nested(levels - 1, value)];

const members = (count: number, value: JsonValue): JsonObject =>
  Object.fromEntries(times(count, (index) => [`k${index}`, value]));

const JSON_LINES = 'application/jsonl';
/** Bodies of a size in bytes. */
const BODIES: [what: string, type: string, body: (size: number) => string][] = [
  ['a long line of an event', '', (size) => `data: "${repeatTo('x', size)}"\n\n`],
  ['an event of many lines', '', (size) => repeatTo('data: 1\n', size)],
  ['a long comment', '', (size) => `:${repeatTo('x', size)}`],
  ['many empty events', '', (size) => repeatTo('data:\n\n', size)],
  ['many fields without a name', '', (size) => repeatTo('::\n', size)],
  ['many carriage returns', '', (size) => `:${repeatTo('\r', size)}`],
  ['line feeds before a carriage return', '', (size) => `:${repeatTo('\n', size)}\r`],
  ['white space at its start', '', (size) => repeatTo(' \n', size)],
  ['a long line of JSON', JSON_LINES, (size) => `{"a":"${repeatTo('x', size)}"}\n`],
  ['many lines of JSON', JSON_LINES, (size) => '{"a":1}\n'.repeat(size / 8)],
  ['many empty lines', JSON_LINES, (size) => `{}${repeatTo('\n', size)}`],
  ['a long JSON document', '', (size) => `{"error":"${'\\"'.repeat(size / 2)}"}`],
];

/** Reads a body that arrives in pieces. An event of many lines is no JSON. */
async function readBody(text: string, type: string, pieceSize: number): Promise<void> {
  const bytes = Buffer.from(text);
  const pieces = times(Math.ceil(bytes.length / pieceSize), (index) =>
    Uint8Array.from(bytes.subarray(index * pieceSize, (index + 1) * pieceSize)),
  );
  const headers = new Headers({ 'content-type': type });
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  await readChunks({ body, headers }, createAnswerBudget(), () => {}).catch((error) => {
    if (!(error instanceof SyntaxError) && error.name !== 'IncompleteAnswer') throw error;
  });
}

describe('the body of a model server is read in linear time', () => {
  test.each(BODIES)('with %s, in pieces of 16 bytes', (_what, type, body) =>
    expectLinear((size) => {
      const text = body(size);
      return () => readBody(text, type, 16);
    }, 50_000),
  );
});

const partOf = (part: JsonObject): JsonObject => ({ tool_calls: [{ index: 0, ...part }] });
const DELTAS: [what: string, delta: (index: number) => JsonObject][] = [
  ['texts', () => ({ content: 'x' })],
  ['halves of surrogate pairs', () => ({ content: '\ud83d' })],
  ['lists of texts', () => ({ content: ['a', { type: 'text', text: 'b' }] })],
  ['texts of reasoning', () => ({ reasoning_content: 'x', reasoning: 'y' })],
  ['details of reasoning', () => ({ reasoning_details: [{ type: 'a', text: 'x' }] })],
  ['details that differ', (index) => ({ reasoning_details: [{ type: `a${index}` }] })],
  ['pieces of arguments', () => partOf({ function: { arguments: '{' } })],
  ['escapes in arguments', () => partOf({ function: { arguments: '\\"' } })],
  ['whole arguments', () => partOf({ function: { arguments: { a: 1 } } })],
  ['names of a call', (index) => partOf({ function: { name: `n${index}` } })],
  ['ids of a call', (index) => partOf({ id: `call_${index}`, function: { arguments: '{' } })],
  ['further members of a call', (index) => partOf({ [`m${index}`]: index })],
  ['pieces of 100 calls', (index) => partOf({ index: index % 100, id: `${index % 100}` })],
];

describe('an answer is assembled in linear time', () => {
  test.each(DELTAS)('from many %s', (_what, delta) =>
    expectLinear((size) => {
      const chunks = times(size, (index) => ({
        choices: [{ delta: delta(index), finish_reason: 'stop' }],
      }));
      return () => {
        const answer = assembleAnswer(createAnswerBudget());
        return [
          chunks.map((chunk) => answer.add(chunk)).join(''),
          JSON.stringify(answer.end(true)),
        ];
      };
    }, 5_000),
  );
});

const HISTORIES: [what: string, message: (index: number) => ModelMessage][] = [
  ['messages of a user', () => ({ role: 'user', content: 'x'.repeat(100) })],
  ['messages of the model', () => ({ role: 'assistant', content: 'x'.repeat(100), toolCalls: [] })],
  ['results of one call', () => ({ role: 'tool', content: 'x', toolCallId: 'a' })],
];

test.each(HISTORIES)('a history with consecutive %s is written in linear time', (_what, message) =>
  expectLinear((size) => {
    const call = { id: 'a', name: 'n', arguments: '{}' };
    const history: ModelMessage[] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: '', toolCalls: [call] },
      ...times(size, message),
    ];
    return () => JSON.stringify(writeMessages(history, { reasoning: 'none' }));
  }, 2_000),
);

const of = (a: JsonObject): JsonObject => ({ properties: { a } });
const numbers = (count: number): JsonObject => ({ a: times(count, (index) => index) });
const SCHEMAS: [what: string, make: (size: number) => [schema: JsonObject, value: JsonObject]][] = [
  ['properties', (size) => [{ properties: members(size, {}) }, members(size, 1)]],
  ['wrong properties', (size) => [{ properties: members(size, { const: 2 }) }, members(size, 1)]],
  ['required properties', (size) => [{ required: times(size, (at) => `k${at}`) }, {}]],
  ['unknown properties', (size) => [{ additionalProperties: false }, members(size, 1)]],
  ['other properties', (size) => [{ additionalProperties: {} }, members(size, 1)]],
  ['elements', (size) => [of({ items: { type: 'number' } }), numbers(size)]],
  ['types', (size) => [of({ type: times(size, () => 'null') }), { a: 1 }]],
  ['choices', (size) => [of({ enum: times(size, (at) => `c${at}`) }), { a: 'x' }]],
  ['alternatives', (size) => [of({ anyOf: times(size, () => ({ const: 2 })) }), { a: 1 }]],
  ['conditions', (size) => [of({ allOf: times(size, () => ({ minimum: 0 })) }), { a: 1 }]],
];

test.each(SCHEMAS)('a value is checked against many %s in linear time', (_what, make) =>
  expectLinear((size) => {
    const [schema, value] = make(size);
    return () => problemsOf(schema, value);
  }, 5_000),
);

const schemaOf = (properties: JsonObject) => ({ inputSchema: { type: 'object', properties } });
const TOOLS: [what: string, tool: (size: number) => JsonObject][] = [
  ['a long description', (size) => ({ description: repeatTo('%25\\', size) })],
  ['a long name', (size) => ({ name: repeatTo('x', size) })],
  ['many properties', (size) => schemaOf(members(size / 50, { type: 'string' }))],
  ['a long text in its schema', (size) => schemaOf({ a: repeatTo('\\u0061', size) })],
  ['a deep schema', (size) => schemaOf({ a: nested(size / 50, 'a') })],
];

describe('a listing of tools is read in linear time', () => {
  const redactor = createRedactor({ A: 'secret-value', B: '%25%25%25%25' });
  const read = (tools: unknown[]) =>
    collectTools(redactor, { limit: 1_000, only: undefined }).add(tools);

  test.each(TOOLS)('with %s', (_what, tool) =>
    expectLinear((size) => {
      const tools = [{ name: 'a', ...schemaOf({}), ...tool(size) }];
      return () => read(tools);
    }, 25_000),
  );

  test.each(TOOLS)('with many tools, each with %s', (_what, tool) =>
    expectLinear((size) => {
      const tools = times(size, (index) => ({ name: `a${index}`, ...schemaOf({}), ...tool(400) }));
      return () => read(tools);
    }, 250),
  );
});

const RESULTS: [what: string, result: (size: number) => Parameters<typeof textOf>[0]][] = [
  ['blocks of text', (size) => ({ content: times(size, () => ({ type: 'text', text: '' })) })],
  ['blocks of no kind', (size) => ({ content: times(size, () => ({})) })],
  ['bytes of an image', (size) => ({ content: [{ type: 'image', data: repeatTo('=', size) }] })],
  ['members', (size) => ({ structuredContent: members(size, 1) })],
  ['lists', (size) => ({ structuredContent: times(size, () => []) })],
  ['deep lists', (size) => ({ structuredContent: times(size / 50, () => nested(60, 1)) })],
];

test.each(RESULTS)('a result of a tool with many %s is read in linear time', (_what, make) =>
  expectLinear((size) => {
    const result = make(size);
    return () => textOf(result);
  }, 20_000),
);

test.each(['a', '%', '%25', '\\', '&#', 'YWFh', '+'])(
  'a stream of many pieces %j is redacted in linear time',
  (part) => {
    const redactor = createRedactor({ A: `${part.repeat(500)}$`, B: '12345678' });
    return expectLinear(
      (size) => () => {
        const stream = redactor.stream();
        for (let count = 0; count < size; count += 1) stream.push(part);
        return stream.end();
      },
      4_000,
    );
  },
);

test('quadratic work fails the check', async () => {
  const work = (size: number) => () => {
    let sum = 0;
    for (let at = 0; at < size * size; at += 1) sum ^= at;
    return sum;
  };
  await expect(expectLinear(work, 6_000, 2)).rejects.toThrow(' ms');
});
