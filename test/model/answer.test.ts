import { describe, expect, test } from 'vitest';
import { assembleAnswer } from '../../src/model/answer.ts';
import { createAnswerBudget } from '../../src/model/pieces.ts';
import { readAnswer } from '../helpers/model-servers.ts';
import { testRandom } from '../helpers/random.ts';
import { rounds } from '../helpers/rounds.ts';

type Delta = Record<string, unknown>;

const chunk = (delta: Delta, finish?: string, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish ?? null }],
  ...more,
});
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const streamOf = (...chunks: unknown[]) => `${chunks.map(event).join('')}data: [DONE]\n\n`;

/** Reads a text whole and byte by byte. Both must have the same result. */
const read = async (text: string, contentType?: string) => {
  const bytes = Buffer.from(text);
  const whole = await readAnswer([bytes], contentType);
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  expect(await readAnswer(single, contentType)).toEqual(whole);
  return whole;
};
const readDeltas = (...deltas: Delta[]) =>
  read(streamOf(...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')));
const readCalls = async (...lists: unknown[]) =>
  (await readDeltas(...lists.map((tool_calls) => ({ tool_calls })))).calls;
const named = (name: string, text?: unknown, more: object = {}) => ({
  ...more,
  function: { name, ...(text !== undefined && { arguments: text }) },
});
const more = (text: string, rest: object = {}) => ({ ...rest, function: { arguments: text } });
const call = (id: string, name: string, text = '{}') => ({ id, name, arguments: text });

describe('tool calls', () => {
  test.each<[string, unknown[], object[]]>([
    [
      'without index, in parts',
      [[named('f', '{"a":', { id: 'x' })], [more('1}')], [named('g', '{}', { id: 'y' })]],
      [call('x', 'f', '{"a":1}'), call('y', 'g')],
    ],
    [
      'with index: null',
      [[named('f', '{}', { id: 'x', index: null })], [named('g', '{}', { id: 'y', index: null })]],
      [call('x', 'f'), call('y', 'g')],
    ],
    [
      'under one index, without ids',
      [[named('f', '{"a":1}', { index: 0 })], [named('f', '{"a":2}', { index: 0 })]],
      [call('call_0', 'f', '{"a":1}'), call('call_1', 'f', '{"a":2}')],
    ],
    [
      'under one index, whose parts follow their ids',
      [
        [named('f', '', { index: 0, id: 'x' })],
        [more('{}', { index: 0 })],
        [named('g', '', { index: 0, id: 'y' })],
        [more('{"b":2}', { index: 0 })],
      ],
      [call('x', 'f'), call('y', 'g', '{"b":2}')],
    ],
    [
      'with parts of two calls that alternate',
      [
        [named('f', '{"a":', { index: 0, id: 'x' }), named('g', '{"b":', { index: 1, id: 'y' })],
        [more('1}', { index: 0 }), more('2}', { index: 1 })],
      ],
      [call('x', 'f', '{"a":1}'), call('y', 'g', '{"b":2}')],
    ],
    [
      'with indexes but without ids',
      [[named('f', '', { index: 0 })], [named('g', '', { index: 1 })]],
      [call('call_0', 'f'), call('call_1', 'g')],
    ],
    [
      'in one list without indexes, ids and arguments',
      [[named('f'), named('g')]],
      [call('call_0', 'f'), call('call_1', 'g')],
    ],
    [
      'whose name arrives again without arguments after they are complete',
      [[named('f', '{}', { index: 0, id: 'x' })], [named('f', '', { index: 0 })]],
      [call('x', 'f')],
    ],
    [
      'with a new id in each part',
      [
        [named('f', '{"a":', { index: 0, id: 'x' })],
        [more('1', { index: 0, id: 'y' })],
        [more('}', { index: 0, id: 'z' })],
      ],
      [call('x', 'f', '{"a":1}')],
    ],
    ...(
      [
        ['with its index', { index: 0 }],
        ['without an index', {}],
      ] as const
    ).map(([how, at]): [string, unknown[], object[]] => [
      `that begin with a new id alone, and continue ${how}`,
      [
        [named('f', '{"a":', { index: 0, id: 'x' })],
        [{ index: 0, id: 'y' }],
        [named('g', '', at)],
        [more('{"b":', at)],
        [more('2}', at)],
      ],
      [call('x', 'f', '{"a":'), call('y', 'g', '{"b":2}')],
    ]),
    [
      'that begin with a new id alone after complete arguments, without an index',
      [[named('f', '{}', { id: 'x' })], [{ id: 'y' }, named('g')], [more('{}')]],
      [call('x', 'f'), call('y', 'g')],
    ],
    [
      'that begin with a new id alone, and then have an index',
      [
        [{ id: 'x' }],
        [named('f', '{"a":', { index: 0 })],
        [named('g', '{}', { index: 1, id: 'y' })],
        [more('1}', { index: 0 })],
      ],
      [call('x', 'f', '{"a":1}'), call('y', 'g')],
    ],
    [
      'that are a new id alone',
      [[{ index: 0, id: 'x' }], [{ index: 0, id: 'x' }]],
      [call('x', '')],
    ],
    ['whose id follows the name', [[named('f', '')], [more('{}', { id: 'x' })]], [call('x', 'f')]],
    [
      'with empty, numeric, missing and repeated ids',
      [
        [
          named('f', '{}', { index: 0, id: '' }),
          named('f', '{}', { index: 1, id: 7 }),
          named('f', '{}', { index: 2 }),
          named('f', '{}', { index: 3, id: 'x' }),
          named('f', '{}', { index: 4, id: 'x' }),
        ],
      ],
      [
        call('call_0', 'f'),
        call('7', 'f'),
        call('call_1', 'f'),
        call('x', 'f'),
        call('call_2', 'f'),
      ],
    ],
    [
      'whose server uses an id that Parley would make',
      [[named('f', '{}', { index: 0 }), named('f', '{}', { index: 1, id: 'call_0' })]],
      [call('call_1', 'f'), call('call_0', 'f')],
    ],
    [
      'whose name arrives in each part',
      [[named('get', '{"a"', { index: 0 })], [named('get', ':1', { index: 0 })], [more('}')]],
      [call('call_0', 'get', '{"a":1}')],
    ],
    [
      'whose name arrives in two parts, and then its beginning again',
      [[named('get_')], [named('time')], [named('get')]],
      [call('call_0', 'get_time')],
    ],
    [
      'with arguments as an object',
      [[named('f', { a: { b: [1] } }, { index: 0 })]],
      [call('call_0', 'f', '{"a":{"b":[1]}}')],
    ],
    [
      'with arguments as an object that grows',
      [[named('f', {}, { index: 0 })], [{ index: 0, function: { arguments: { a: 1 } } }]],
      [call('call_0', 'f', '{"a":1}')],
    ],
    ...(
      [
        ['empty', ''],
        ['blank', ' \n'],
        ['null as text', 'null'],
        ['null', null],
        ['absent', undefined],
        ['an empty string as JSON', '""'],
      ] as const
    ).map(([what, text]): [string, unknown[], object[]] => [
      `with arguments that are ${what}`,
      [[named('f', text, { index: 0 })]],
      [call('call_0', 'f')],
    ]),
    [
      'with arguments that are a JSON string that holds an object',
      [[named('f', '"{\\"a\\":', { index: 0 })], [more('1}"', { index: 0 })]],
      [call('call_0', 'f', '{"a":1}')],
    ],
    [
      'with arguments that are no JSON object',
      [[named('f', '{"a":', { index: 0 }), named('g', '[1]', { index: 1 })]],
      [call('call_0', 'f', '{"a":'), call('call_1', 'g', '[1]')],
    ],
    ['of wrong types', ['x', [7, null, { function: 1 }]], [call('call_0', '')]],
  ])('%s', async (_what, lists, expected) => {
    expect(await readCalls(...lists)).toEqual(expected);
  });

  test('keep their unknown members, the last of each name, up to 64 KiB each', async () => {
    const large = 'x'.repeat(64 * 1024);
    const [only] = (await readCalls(
      [named('f', '{}', { id: 'x', extra_content: { google: { thought_signature: 'a' } }, large })],
      [{ extra_content: { google: { thought_signature: 'b' } }, caller: 'model', none: null }],
    )) as { extra: string }[];
    expect(JSON.parse(only?.extra ?? '')).toEqual({
      extra_content: { google: { thought_signature: 'b' } },
      caller: 'model',
    });
  });

  test('drop unknown members that cannot be stored or sent', async () => {
    const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`);
    const part = named('f', '{}', { id: 'x', deep, zero: '\u0000', ['n'.repeat(65)]: 1 });
    expect(await readCalls([part])).toEqual([call('x', 'f')]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`m${at}`, 1]));
    const [only] = (await readCalls([{ ...named('f', '{}'), ...many }])) as { extra: string }[];
    expect(Object.keys(JSON.parse(only?.extra ?? ''))).toHaveLength(16);
  });

  test('beyond 128 fail, in one list or in many', async () => {
    const list = Array.from({ length: 50_000 }, (_, at) => named('f', '{}', { id: `c${at}` }));
    const error = { error: "The model's answer has more than 128 tool calls." };
    expect(await readAnswer([Buffer.from(streamOf(chunk({ tool_calls: list })))])).toEqual(error);
    expect(await readDeltas(...list.slice(0, 129).map((one) => ({ tool_calls: [one] })))).toEqual(
      error,
    );
  });
});

describe('the content of an answer', () => {
  test.each<[string, Delta[], object]>([
    ['a string', [{ content: 'Hi' }], { text: 'Hi' }],
    [
      'a list of parts',
      [{ content: [{ type: 'text', text: 'H' }, 'i', { type: 'text', text: 7 }] }],
      { text: 'Hi' },
    ],
    [
      'thinking, which is no text',
      [{ content: [{ type: 'thinking', thinking: 'Hm.' }] }, { content: 'Hi' }],
      { text: 'Hi', reasoningLength: 3 },
    ],
    [
      'images and audio, which are ignored',
      [
        {
          content: [
            { type: 'image_url', image_url: {} },
            { type: 'text', text: 'Hi' },
          ],
        },
        { audio: { data: 'AAAA' } },
        { content: [{ type: 'video' }] },
      ],
      { text: 'Hi', ignored: ['image', 'audio', 'other'] },
    ],
    ['a number', [{ content: 7 }, { content: 'Hi' }], { text: 'Hi' }],
  ])('may be %s', async (_what, deltas, expected) => {
    expect(await readDeltas(...deltas)).toMatchObject(expected);
  });

  test('may be a refusal', async () => {
    const refused = { text: 'No.', reason: 'content_filter' };
    expect(await readDeltas({ content: null, refusal: 'No.' })).toMatchObject(refused);
  });

  test('is the content of the choice with index 0', async () => {
    const both = {
      choices: [
        { index: 1, delta: { content: 'other' }, finish_reason: 'length' },
        { index: 0, delta: { content: 'Hi' }, finish_reason: null },
      ],
    };
    const other = { choices: [{ index: 1, delta: { content: 'other' }, finish_reason: 'length' }] };
    expect(await read(streamOf(both, other, chunk({}, 'stop')))).toMatchObject({
      text: 'Hi',
      reason: 'stop',
    });
  });

  test.each([
    ['in place of a delta', (message: object) => streamOf({ choices: [{ message }] })],
    [
      'in a JSON document',
      (message: object) => JSON.stringify({ choices: [{ message }] }, null, 2),
    ],
    ['in a list', (message: object) => ` \n[${JSON.stringify({ choices: [{ message }] })}]`],
  ])('may be a message %s', async (_where, write) => {
    const tool_calls = [named('f', '{"a":1}', { id: 'x' })];
    const message = { role: 'assistant', content: 'Hi', tool_calls, reasoning_content: 'Hm.' };
    expect(await read(write(message), 'application/json')).toMatchObject({
      text: 'Hi',
      calls: [call('x', 'f', '{"a":1}')],
      reasoning: { reasoning_content: 'Hm.' },
      reason: 'unknown',
    });
  });
});

describe('reasoning', () => {
  test.each<[string, Delta[], object]>([
    [
      'reasoning_content',
      [{ reasoning_content: 'Let ' }, { reasoning_content: 'me see.' }],
      { reasoning: { reasoning_content: 'Let me see.' }, reasoningLength: 11 },
    ],
    [
      'reasoning',
      [{ reasoning: 'Let ' }, { reasoning: 'me see.' }],
      { reasoning: { reasoning: 'Let me see.' }, reasoningLength: 11 },
    ],
    [
      'reasoning_details, whose blocks are joined',
      [
        { reasoning_details: [{ type: 'reasoning.summary', summary: 'a', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.summary', summary: 'b', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz', index: 1 }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz', index: 1 }, 7] },
      ],
      {
        reasoning: {
          reasoning_details: [
            { type: 'reasoning.summary', summary: 'ab', index: 0 },
            { type: 'reasoning.encrypted', data: 'xyz', index: 1 },
            { type: 'reasoning.encrypted', data: 'xyz', index: 1 },
          ],
        },
      },
    ],
  ])('may be %s', async (_what, deltas, expected) => {
    expect(await readDeltas(...deltas, { content: 'Hi' })).toMatchObject({
      text: 'Hi',
      ...expected,
    });
  });

  test('over 1 MiB is counted but not kept', async () => {
    const reply = await readAnswer(
      Array.from({ length: 3 }, () =>
        Buffer.from(event(chunk({ reasoning_content: 'x'.repeat(512 * 1024) }))),
      ).concat(Buffer.from(streamOf(chunk({ content: 'Hi' }, 'stop')))),
    );
    expect(reply).toMatchObject({ text: 'Hi', reasoningLength: 3 * 512 * 1024 });
    expect(reply).not.toHaveProperty('reasoning');
  });
});

describe('usage', () => {
  const counts = (prompt: number, completion: number) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
  });
  const finish = chunk({ content: 'Hi' }, 'stop');

  test.each<[string, unknown[], object | null]>([
    ['is missing', [finish], null],
    [
      'is late',
      [finish, { choices: [], usage: counts(3, 1) }],
      { promptTokens: 3, completionTokens: 1 },
    ],
    [
      'is in every chunk',
      [
        chunk({ content: 'H' }, undefined, { usage: counts(3, 1) }),
        { ...finish, usage: counts(3, 2) },
      ],
      { promptTokens: 3, completionTokens: 2 },
    ],
    [
      'is zero in the last chunk',
      [
        { ...finish, usage: counts(3, 1) },
        { choices: [], usage: counts(0, 0) },
      ],
      { promptTokens: 3, completionTokens: 1 },
    ],
    [
      'is in x_groq',
      [{ ...finish, x_groq: { usage: counts(3, 1) } }],
      { promptTokens: 3, completionTokens: 1 },
    ],
    [
      'is in the choice',
      [{ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop', usage: counts(3, 1) }] }],
      { promptTokens: 3, completionTokens: 1 },
    ],
    [
      'has details',
      [
        {
          ...finish,
          usage: {
            ...counts(30, 10),
            prompt_tokens_details: { cached_tokens: 16 },
            completion_tokens_details: { reasoning_tokens: 8 },
          },
        },
      ],
      { promptTokens: 30, completionTokens: 10, cachedTokens: 16, reasoningTokens: 8 },
    ],
    [
      'has counts out of range',
      [
        {
          ...finish,
          usage: {
            ...counts(-1, 5),
            prompt_tokens_details: { cached_tokens: 1e308 },
            completion_tokens_details: { reasoning_tokens: 1.5 },
          },
        },
      ],
      { promptTokens: 0, completionTokens: 5 },
    ],
    ['is a list', [{ ...finish, usage: [7] }], null],
  ])('%s', async (_what, chunks, usage) => {
    expect(await read(streamOf(...chunks))).toMatchObject({ usage });
  });
});

describe('the form of a stream', () => {
  const hi = JSON.stringify(chunk({ content: 'Hi' }));
  const stop = JSON.stringify(chunk({}, 'stop'));

  test.each([
    [
      'comments and other fields',
      `: ping\n\nevent: message\nid: 1\nretry: 5\ndata: ${hi}\n\ndata: ${stop}\n\n`,
    ],
    ['CR LF', `data: ${hi}\r\n\r\ndata: ${stop}\r\n\r\n`],
    ['CR', `data: ${hi}\r\rdata: ${stop}\r\r`],
    ['no space', `data:${hi}\n\ndata:${stop}\n\n`],
    ['a byte order mark', `\uFEFFdata: ${hi}\n\ndata: ${stop}\n\n`],
    ['empty data', `data:\n\ndata: \n\ndata: ${hi}\n\ndata: ${stop}\n\n`],
    ['null', `data: null\n\ndata: ${hi}\n\ndata: ${stop}\n\n`],
    ['other values', `data: 7\n\ndata: [1]\n\ndata: "x"\n\ndata: ${hi}\n\ndata: ${stop}\n\n`],
    ['no [DONE]', `data: ${hi}\n\ndata: ${stop}\n\n`],
    ['no end of the last event', `data: ${hi}\n\ndata: ${stop}`],
    ['data after [DONE]', `data: ${hi}\n\ndata: ${stop}\n\ndata: [DONE]\n\ndata: nonsense\n\n`],
    [
      'an event of several lines',
      `data: {"choices":\ndata: [{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n`,
    ],
  ])('may have %s', async (_what, text) => {
    expect(await read(text)).toMatchObject({ text: 'Hi', reason: 'stop' });
  });

  test.each([
    'application/jsonl',
    'application/x-ndjson',
    'application/ndjson',
    'application/jsonlines',
    'application/jsonl; charset=utf-8',
    'application/x-ndjson;charset=utf-8',
    'Application/NDJSON ; charset=UTF-8',
    'APPLICATION/JSONLINES',
  ])('may be lines of JSON, if the content type is %s', async (contentType) => {
    const text = `${hi}\r\n\n${stop}`;
    expect(await read(text, contentType)).toMatchObject({ text: 'Hi', reason: 'stop' });
  });

  test.each(['application/json', 'application/jsonllines', 'text/plain; of=application/jsonl', ''])(
    'is one JSON document, if the content type is %j',
    async (contentType) => {
      expect(await read(`${hi}\n${stop}`, contentType)).toEqual({
        error: "The model's answer is incomplete.",
      });
    },
  );
});

describe('the end of an answer', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4 };

  test.each<[string, string, object]>([
    ['[DONE] without a finish reason', streamOf(chunk({ content: 'Hi' })), { reason: 'unknown' }],
    ['[DONE] alone', 'data: [DONE]\n\n', { text: '', reason: 'unknown' }],
    [
      'text and a usage',
      event(chunk({ content: 'Hi' })) + event({ choices: [], usage }),
      { text: 'Hi', reason: 'unknown' },
    ],
    ['text alone', event(chunk({ content: 'Hi' })), { error: "The model's answer is incomplete." }],
    ['nothing', '', { error: "The model's answer is incomplete." }],
    [
      'half an event',
      `${event(chunk({ content: 'Hi' }))}data: {"choices":[{"del`,
      { error: "The model's answer is incomplete." },
    ],
    [
      'half an event behind the finish reason',
      `${event(chunk({ content: 'Hi' }, 'stop'))}data: {"choices":[],"usa`,
      { text: 'Hi', reason: 'stop', usage: null },
    ],
    [
      'half an event behind the usage',
      `${event(chunk({ content: 'Hi' }, 'length', { usage }))}data: [DO`,
      { text: 'Hi', reason: 'length', usage: { promptTokens: 3, completionTokens: 4 } },
    ],
    [
      'half an event of a server that sends a finish reason with each piece of text',
      `${event(chunk({ content: 'H' }, 'stop'))}${event(chunk({ content: 'i' }, 'stop'))}data: {"choi`,
      { error: "The model's answer is incomplete." },
    ],
    [
      'a finish reason with each piece of text',
      streamOf(chunk({ content: 'H' }, 'stop'), chunk({ content: 'i' }, 'stop')),
      { text: 'Hi', reason: 'stop' },
    ],
    [
      'half an event behind a finish reason that is none',
      `${event(chunk({ content: 'Hi' }, 'null'))}data: {"choi`,
      { error: "The model's answer is incomplete." },
    ],
    [
      'an error behind the finish reason',
      event(chunk({ content: 'Hi' }, 'stop')) + event({ error: { message: 'Overloaded' } }),
      { error: "The model's server reported an error.", detail: 'Overloaded' },
    ],
    ['half a JSON document', '{"choices":[{"mess', { error: "The model's answer is incomplete." }],
    ['length, with text', streamOf(chunk({ content: 'Hi' }, 'length')), { reason: 'length' }],
    [
      'length, with a call',
      streamOf(chunk({ tool_calls: [named('f', '{}')] }, 'length')),
      { reason: 'length', calls: [call('call_0', 'f')] },
    ],
    [
      'length, without text',
      streamOf(chunk({ content: '\n\n' }, 'length')),
      { error: 'The model reached max_tokens before it answered.' },
    ],
    [
      'length, after reasoning',
      streamOf(chunk({ reasoning: 'Hm.' }, 'length'), {
        choices: [],
        usage: { ...usage, completion_tokens_details: { reasoning_tokens: 4 } },
      }),
      {
        error: 'The model reached max_tokens before it answered. It used 4 tokens for reasoning.',
      },
    ],
    [
      'content_filter, without text',
      streamOf(chunk({}, 'content_filter')),
      { error: 'A content filter of the model removed the answer.' },
    ],
    [
      'content_filter, with text',
      streamOf(chunk({ content: 'Hi' }, 'content_filter')),
      { text: 'Hi', reason: 'content_filter' },
    ],
    [
      'an error as its finish reason',
      streamOf(chunk({ content: 'Hi' }, 'error')),
      { error: "The model's server reported an error." },
    ],
    [
      'an error object',
      streamOf(chunk({ content: 'Hi' }), { error: { message: 'Overloaded', code: 503 } }),
      { error: "The model's server reported an error.", detail: 'Overloaded' },
    ],
    [
      'an error in the choice',
      streamOf({ choices: [{ delta: {}, error: { message: 'Overloaded' } }] }),
      { error: "The model's server reported an error.", detail: 'Overloaded' },
    ],
    [
      'an error event',
      'event: error\ndata: out of memory\n\n',
      { error: "The model's server reported an error.", detail: 'out of memory' },
    ],
    [
      'JSON that is no answer',
      '{"code":401,"msg":"no token"}',
      { error: "The model's server reported an error.", detail: 'no token' },
    ],
    ['a page of HTML', '<h1>Bad gateway</h1>', { error: "The model's answer is incomplete." }],
    [
      'invalid JSON',
      'data: {"choices"\n\ndata: [DONE]\n\n',
      { error: "The model's answer is incomplete or invalid." },
    ],
  ])('is %s', async (_what, text, expected) => {
    expect(await read(text)).toMatchObject(expected);
  });
});

describe('nonsense', () => {
  const VALUES = [null, true, 0, -1, 1e308, '', 'x', '\uD800', [], [[]], {}, 'data: [DONE]', '{}'];
  const NAMES = [
    ...['choices', 'delta', 'message', 'content', 'tool_calls', 'function', 'arguments', 'name'],
    ...['id', 'index', 'usage', 'error', 'finish_reason', 'refusal', 'reasoning_details', 'text'],
    ...[
      'prompt_tokens',
      'x_groq',
      'type',
      'images',
      'audio',
      '__proto__',
      'extra_content',
      'model',
    ],
  ] as const;

  test('in a stream is a reply or a failure with a reason', async () => {
    const random = testRandom();
    const value = (depth: number): unknown => {
      const kind = random.int(0, depth > 5 ? 1 : 4);
      if (kind <= 1) return random.pick([null, ...VALUES]);
      const count = random.int(0, 4);
      if (kind === 2) return Array.from({ length: count }, () => value(depth + 1));
      return Object.fromEntries(
        Array.from({ length: count }, () => [random.pick(NAMES), value(depth + 1)]),
      );
    };
    const bytes = () =>
      Buffer.from(Array.from({ length: random.int(0, 300) }, () => random.int(0, 255)));
    const line = (): Buffer => {
      const kind = random.int(0, 5);
      if (kind === 0) return bytes();
      if (kind === 1)
        return Buffer.from(random.pick(['\n', '\r', 'data:', 'event: error\n', '{', '[']));
      const chunk = kind === 2 ? value(0) : { choices: [{ delta: value(2), message: value(3) }] };
      return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (let count = rounds(1_000, 10_000); count > 0; count -= 1) {
      const stream = Buffer.concat(Array.from({ length: random.int(1, 12) }, line));
      const contentType = random.pick([
        'text/event-stream',
        'application/json',
        'application/jsonl',
      ]);
      const whole = await readAnswer([stream], contentType);
      const cuts = Array.from({ length: random.int(1, 8) }, () => random.int(0, stream.length));
      const ends = [...cuts.sort((one, other) => one - other), stream.length];
      const pieces = ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
      expect(await readAnswer(pieces, contentType)).toEqual(whole);
      if ('error' in whole) expect(whole.error).toMatch(/^(The model|A content filter)/);
      else expect(whole).toMatchObject({ text: expect.any(String), reason: expect.any(String) });
    }
  });

  test.each([
    ['a line', 'data: ', 'text/event-stream'],
    ['a line of a comment', ': ', 'text/event-stream'],
    ['a line of JSON', '{"a":"', 'application/x-ndjson'],
    ['a JSON document', '{"a":"', 'application/json'],
  ])('of 1 GB without an end, in %s, is stopped at 4 MiB', async (_where, start, contentType) => {
    let sent = 0;
    const pieces = function* () {
      yield Buffer.from(start);
      const piece = Buffer.alloc(64 * 1024, 'x');
      for (; sent < 1024 ** 3; sent += piece.length) yield piece;
    };
    const error = { error: "The model's answer is too long." };
    expect(await readAnswer(pieces(), contentType)).toEqual(error);
    expect(sent).toBeLessThan(5 * 1024 ** 2);
  });

  test('of 4 MiB in one event is read', async () => {
    const image = { type: 'image_url', image_url: { url: 'x'.repeat(4 * 1024 ** 2 - 1_000) } };
    const text = streamOf(chunk({ content: [image, { type: 'text', text: 'Hi' }] }, 'stop'));
    expect(await readAnswer([Buffer.from(text)])).toMatchObject({ text: 'Hi', ignored: ['image'] });
  });
});

describe('an answer of 4 MiB', () => {
  const SIZE = 4 * 1024 ** 2;

  /** The seconds of CPU time of some work in this thread. Other threads of the process may run other tests. */
  const cpuOf = async (work: () => unknown) => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1e6;
  };

  /** Repeats work that took longer than a bound up to twice: other work of the machine only adds time. */
  const leastCpuOf = async (bound: number, work: () => unknown) => {
    let least = Infinity;
    for (let round = 0; round < 3 && least >= bound; round += 1) {
      least = Math.min(least, await cpuOf(work));
    }
    return least;
  };

  test('is assembled from deltas of one byte within 8 seconds of CPU time', async () => {
    const seconds = await leastCpuOf(8, () => {
      const answer = assembleAnswer({ receive() {}, take() {} });
      const one = chunk({ content: 'x' });
      let length = 0;
      for (let count = SIZE; count > 0; count -= 1) length += answer.add(one).length;
      expect(length).toBe(SIZE);
    });
    expect(seconds).toBeLessThan(8);
  });

  test.each<[string, () => Delta]>([
    ['of arguments', () => ({ tool_calls: [more('x', { index: 0 })] })],
    ['of arguments with a name', () => ({ tool_calls: [named('f', 'x', { index: 0 })] })],
    ['of reasoning', () => ({ reasoning_content: 'x' })],
    [
      'of details of reasoning',
      () => ({ reasoning_details: [{ type: 'reasoning.text', text: 'x', index: 0 }] }),
    ],
    ['of unknown members', () => ({ tool_calls: [{ id: 'x', extra: 'x' }] })],
  ])('takes time in proportion to its deltas %s', async (_what, delta) => {
    const secondsFor = (count: number) =>
      cpuOf(() => {
        const answer = assembleAnswer({ receive() {}, take() {} });
        for (let left = count; left > 0; left -= 1) answer.add(chunk(delta()));
        answer.end(true);
      });
    await secondsFor(5_000);
    const few = await secondsFor(25_000);
    const many = await secondsFor(200_000);
    // Quadratic work would take 64 times as long.
    expect(many).toBeLessThan(24 * few + 0.2);
  });

  test('is read from pieces of one byte within 20 seconds of CPU time', async () => {
    const text = 'x'.repeat(1_000);
    const bytes = Buffer.from(event(chunk({ content: text })).repeat(SIZE / 1_000));
    const pieces = function* () {
      for (let at = 0; at < SIZE; at += 1) yield bytes.subarray(at, at + 1);
      yield Buffer.from('\n\ndata: [DONE]\n\n');
    };
    const seconds = await leastCpuOf(20, () => readAnswer(pieces()));
    expect(seconds).toBeLessThan(20);
  });

  test('in more chunks than a run may have is stopped', async () => {
    const piece = Buffer.from(event(chunk({ content: 'x' })).repeat(1_000));
    const endless = function* () {
      for (;;) yield piece;
    };
    const budget = createAnswerBudget();
    expect(await readAnswer(endless(), undefined, budget)).toEqual({
      error: "The model's answer is too long.",
    });
  });
});
