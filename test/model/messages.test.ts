import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsAsText } from '../../src/model/calls-as-text.ts';
import { type WireCall, type WireMessage, writeMessages } from '../../src/model/messages.ts';
import type { ModelMessage } from '../../src/model/model.ts';
import { runsOf } from '../helpers/rounds.ts';

const system = { role: 'system', content: 'Be brief.' } as const;
const user = (content: string) => ({ role: 'user', content }) as const;
const reply = (content: string): ModelMessage => ({ role: 'assistant', content, toolCalls: [] });
const call = (id: string, text = '{}', more: object = {}) => ({
  id,
  name: 'f',
  arguments: text,
  ...more,
});
const calling = (...toolCalls: ReturnType<typeof call>[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  toolCalls,
});
const result = (toolCallId: string, content = 'done') =>
  ({ role: 'tool', content, toolCallId }) as const;

const written = (id: string, text = '{}'): WireCall => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: text },
});
const write = (...history: ModelMessage[]) => writeMessages(history, { reasoning: 'sent' });

describe('the messages of a request', () => {
  test.each<[string, ModelMessage[], WireMessage[]]>([
    [
      'a whole turn',
      [system, user('Hi'), calling(call('a', '{"x":1}')), result('a'), reply('Done.'), user('Ok')],
      [
        system,
        user('Hi'),
        { role: 'assistant', content: null, tool_calls: [written('a', '{"x":1}') as never] },
        { role: 'tool', content: 'done', tool_call_id: 'a' },
        { role: 'assistant', content: 'Done.' },
        user('Ok'),
      ],
    ],
    [
      'a cancelled turn, which has no reply',
      [system, user('One'), user('Two'), reply(''), user('Three')],
      [system, user('One\n\nTwo\n\nThree')],
    ],
    [
      'two replies in a row',
      [user('Hi'), reply('One'), reply('Two'), user('Ok')],
      [user('Hi'), { role: 'assistant', content: 'One\n\nTwo' }, user('Ok')],
    ],
    [
      'a call without its result',
      [user('Hi'), calling(call('a'), call('b')), result('b'), reply('Done.')],
      [
        user('Hi'),
        { role: 'assistant', content: null, tool_calls: [written('a'), written('b')] },
        { role: 'tool', content: 'The call was interrupted.', tool_call_id: 'a' },
        { role: 'tool', content: 'done', tool_call_id: 'b' },
        { role: 'assistant', content: 'Done.' },
      ],
    ],
    [
      'a turn that ended after its calls',
      [user('Hi'), calling(call('a')), user('Ok')],
      [
        user('Hi'),
        { role: 'assistant', content: null, tool_calls: [written('a')] },
        { role: 'tool', content: 'The call was interrupted.', tool_call_id: 'a' },
        { role: 'assistant', content: 'The turn ended without a reply.' },
        user('Ok'),
      ],
    ],
    [
      'results without a call',
      [
        result('x'),
        user('Hi'),
        result('x'),
        calling(call('a')),
        result('x'),
        result('a'),
        result('a'),
      ],
      [
        user('Hi'),
        { role: 'assistant', content: null, tool_calls: [written('a')] },
        { role: 'tool', content: 'done', tool_call_id: 'a' },
      ],
    ],
    [
      'calls that share an id, in one message and in two turns',
      [
        user('Hi'),
        calling(call('a'), call('a')),
        result('a', 'one'),
        result('a', 'two'),
        calling(call('a')),
        result('a', 'three'),
      ],
      [
        user('Hi'),
        { role: 'assistant', content: null, tool_calls: [written('a'), written('a_2')] },
        { role: 'tool', content: 'one', tool_call_id: 'a' },
        { role: 'tool', content: 'two', tool_call_id: 'a_2' },
        { role: 'assistant', content: null, tool_calls: [written('a_3')] },
        { role: 'tool', content: 'three', tool_call_id: 'a_3' },
      ],
    ],
    [
      'arguments that an earlier version stored',
      [user('Hi'), calling(call('a', '{"x":'), call('b', ''), call('c', '"{}"'), call('d', '[]'))],
      [
        user('Hi'),
        {
          role: 'assistant',
          content: null,
          tool_calls: ['a', 'b', 'c', 'd'].map((id) => written(id)),
        },
        ...['a', 'b', 'c', 'd'].map((id) => ({
          role: 'tool' as const,
          content: 'The call was interrupted.',
          tool_call_id: id,
        })),
      ],
    ],
    [
      'a message of the model before the first of the user',
      [system, reply('Hello.'), user('Hi')],
      [system, user('Hi')],
    ],
    ['an empty system message', [{ role: 'system', content: '' }, user('Hi')], [user('Hi')]],
  ])('for %s', (_what, history, expected) => {
    expect(write(...history)).toEqual(expected);
  });

  test('hold the further members of a call, but not in place of its own', () => {
    const extra = '{"extra_content":{"google":{"thought_signature":"a"}},"type":"x","id":"y"}';
    const [, message] = write(user('Hi'), calling(call('a', '{}', { extra })));
    expect(message).toMatchObject({
      tool_calls: [
        { id: 'a', type: 'function', extra_content: { google: { thought_signature: 'a' } } },
      ],
    });
  });

  test('hold reasoning as the server wants it', () => {
    const reasoning = { reasoning_content: 'Hm.' };
    const history: ModelMessage[] = [
      user('Hi'),
      reply('Hello.'),
      user('What?'),
      { role: 'assistant', content: '', toolCalls: [call('a')], reasoning },
    ];
    const contents = (form: 'sent' | 'none' | 'always') =>
      writeMessages(history, { reasoning: form }).flatMap((message) =>
        message.role === 'assistant' ? [message.reasoning_content] : [],
      );
    expect(contents('sent')).toEqual([undefined, 'Hm.']);
    expect(contents('none')).toEqual([undefined, undefined]);
    expect(contents('always')).toEqual(['', 'Hm.']);
  });

  test('hold calls and results as text for a server that refuses both, but no result without its call', () => {
    const history = [
      user('Hi'),
      result('none', 'lost'),
      calling(call('a', '{"x":1}'), call('b')),
      result('b', 'two'),
      result('a', 'one'),
      reply('Done.'),
      user('Ok'),
    ];
    expect(write(...callsAsText(history))).toEqual([
      user('Hi'),
      { role: 'assistant', content: 'Call of the tool f: {"x":1}\n\nCall of the tool f: {}' },
      user('Result of the tool f: two\n\nResult of the tool f: one'),
      { role: 'assistant', content: 'Done.' },
      user('Ok'),
    ]);
  });

  test('satisfy strict servers, whatever the history is', () => {
    const ids = fc.constantFrom('', 'a', 'b', 'a_2', 'call');
    const texts = fc.constantFrom('', ' ', 'x', 'y\n\nz');
    const calls = fc.record({
      id: ids,
      name: fc.constantFrom('f', 'g'),
      arguments: fc.oneof(
        fc.constantFrom('', 'null', '{}', '[]', '7', '{"a":', '"{}"', '"x"'),
        fc.json(),
        fc.string(),
      ),
      extra: fc.option(fc.constantFrom('{"x":1}', '{"id":"z"}', '{', '7'), { nil: undefined }),
    });
    const message: fc.Arbitrary<ModelMessage> = fc.oneof(
      fc.record({ role: fc.constant('user' as const), content: texts }),
      fc.record({
        role: fc.constant('assistant' as const),
        content: texts,
        toolCalls: fc.array(calls, { maxLength: 3 }),
      }),
      fc.record({ role: fc.constant('tool' as const), content: texts, toolCallId: ids }),
    );
    const history = fc.tuple(
      fc.array(fc.constant<ModelMessage>(system), { maxLength: 1 }),
      fc.array(message, { maxLength: 12 }),
    );
    fc.assert(
      fc.property(history, ([first, rest]) => {
        const whole = [...first, ...rest];
        expectStrict(writeMessages(whole, { reasoning: 'sent' }), first.length);
        const asText = writeMessages(callsAsText(whole), { reasoning: 'sent' });
        expectStrict(asText, first.length);
        for (const message of asText) {
          expect(message.role).not.toBe('tool');
          expect(message).not.toHaveProperty('tool_calls');
        }
      }),
      runsOf(2_000),
    );
  });
});

/** Checks what Mistral, Bedrock and the templates of llama.cpp and vLLM require. */
function expectStrict(messages: WireMessage[], systems: number): void {
  expect(messages.filter(({ role }) => role === 'system')).toHaveLength(systems);
  const rest = messages.slice(systems);
  if (rest.length > 0) expect(rest[0]?.role).toBe('user');
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [at, message] of rest.entries()) {
    const before = rest[at - 1]?.role;
    if (message.role === 'tool') {
      expect(message.tool_call_id).toBe(open.shift());
      continue;
    }
    expect(open).toEqual([]);
    if (message.role === 'user') expect([undefined, 'assistant']).toContain(before);
    if (message.role !== 'assistant') continue;
    expect(['user', 'tool']).toContain(before);
    const { content, tool_calls: calls = [] } = message;
    expect(content).not.toBe('');
    if (calls.length === 0) expect(content).not.toBeNull();
    open = calls.map(({ id }) => id);
    for (const { id, function: called } of calls) {
      expect(id).not.toBe('');
      expect(seen).not.toContain(id);
      seen.add(id);
      const input: unknown = JSON.parse(called.arguments);
      expect(Object.prototype.toString.call(input)).toBe('[object Object]');
    }
  }
  expect(open).toEqual([]);
}
