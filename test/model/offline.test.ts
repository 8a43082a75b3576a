import { describe, expect, test } from 'vitest';
import { noticeOf } from '../../src/approvals/notice.ts';
import type { ModelEvent, ModelMessage, ModelTool } from '../../src/model/model.ts';
import { createOfflineModel } from '../../src/model/offline.ts';

const run = async (
  messages: ModelMessage[],
  { pace = 0, signal = new AbortController().signal, tools = [] as ModelTool[] } = {},
) => {
  const model = createOfflineModel({ pace });
  const request = { model: model.nameFor('anything'), messages, tools, timeout: 5_000 };
  const events: ModelEvent[] = [];
  await model.stream(request, (event) => events.push(event), signal);
  return events;
};

const textOf = (events: Awaited<ReturnType<typeof run>>) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

const conversation: ModelMessage[] = [
  { role: 'system', content: 'Be kind.\n\n<context>\n{"plan":"pro"}\n</context>' },
  { role: 'user', content: 'I am Ada.' },
  { role: 'assistant', content: 'Hello Ada.', toolCalls: [] },
  { role: 'user', content: 'Who am I?' },
];

describe('the offline model', () => {
  test('has the name "offline" for any requested model', () => {
    expect(createOfflineModel({ pace: 0 }).nameFor('gpt-4o')).toBe('offline');
  });

  test('includes the message, the history and the context in its reply', async () => {
    const text = textOf(await run(conversation));
    expect(text).toContain('You said: "Who am I?".');
    expect(text).toContain('Before that, you said: "I am Ada.". I remember 2 messages of yours.');
    expect(text).toContain('{"plan":"pro"}');
  });

  test('streams word by word, deterministically, with usage', async () => {
    const events = await run(conversation);
    expect(events.length).toBeGreaterThan(10);
    expect(await run(conversation)).toEqual(events);
    expect(events.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: { promptTokens: expect.any(Number), completionTokens: events.length - 1 },
    });
  });

  test('calls a tool that the message names with its input, and includes the result in its reply', async () => {
    const tools = [{ name: 'shop_find', description: '', parameters: {} }];
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Please call shop.find with {"id": "A-1"}.' },
    ];
    const events = await run(messages, { tools });
    const call = { id: 'call_1', name: 'shop_find', arguments: '{"id": "A-1"}' };
    expect(events[0]).toEqual({ type: 'tool-call', call });
    const answered: ModelMessage[] = [
      ...messages,
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', content: 'Found it', toolCallId: 'call_1' },
    ];
    expect(textOf(await run(answered))).toContain('The tool that you named answered: Found it.');
  });

  test('does not repeat a call that a notice of the server names', async () => {
    const tools = [{ name: 'shop_find', description: '', parameters: {} }];
    const call = { name: 'shop.find', arguments: '{"id":"A-1"}', editedArguments: null };
    const toolCall = { status: 'COMPLETED', result: 'Found it' } as const;
    const content = noticeOf({ ...call, status: 'APPROVED', note: null, toolCall });
    const events = await run([{ role: 'user', content }], { tools });
    expect(events.filter(({ type }) => type === 'tool-call')).toEqual([]);
    expect(textOf(events)).toContain('Found it');
  });

  test('stops when the signal is aborted', async () => {
    const leaving = new AbortController();
    const answer = run(conversation, { pace: 60_000, signal: leaving.signal });
    leaving.abort();
    expect(await answer).toEqual([]);
  });
});
