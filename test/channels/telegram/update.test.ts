import { describe, expect, test, vi } from 'vitest';
import { readUpdate } from '../../../src/channels/telegram/update.ts';

const BOT = { id: '77', name: 'ShopBot' };
const update = (message: object, id: unknown = 1) => ({
  update_id: id,
  message: {
    message_id: 5,
    from: { id: 42, is_bot: false },
    chat: { id: 42, type: 'private' },
    ...message,
  },
});
const GROUP = { chat: { id: -100, type: 'supergroup' } };
const request = (message: object) => readUpdate(update(message), BOT)?.message.request;
const mention = (text: string, at: string) => ({
  text,
  entities: [{ type: 'mention', offset: text.indexOf(at), length: at.length }],
});

describe('an update', () => {
  test('of a private chat is one of the session of the chat', () => {
    expect(readUpdate(update({ text: ' Hi ' }), BOT)).toEqual({
      updateId: 1,
      sessionId: 'telegram:42',
      album: undefined,
      message: { chatId: 42, request: { kind: 'text', text: 'Hi' } },
    });
  });

  test('of a group is one of the session of its member, in its topic', () => {
    const text = mention('@shopbot hi', '@shopbot');
    const message = { ...GROUP, ...text, is_topic_message: true, message_thread_id: 9 };
    expect(readUpdate(update(message), BOT)).toMatchObject({
      sessionId: 'telegram:-100:42',
      message: { chatId: -100, replyTo: 5, topicId: 9, request: { kind: 'text', text: 'hi' } },
    });
  });

  test.each([
    ['/start', 'start'],
    ['/START', 'start'],
    ['/start ref_12', 'start'],
    ['/new@ShopBot', 'new'],
    ['/forget@shopbot please', 'forget'],
    ['/stop', 'stop'],
  ])('with the command %s is that command', (text, command) => {
    expect(request({ text })).toEqual({ kind: 'command', command });
  });

  test.each(['/help', 'please /start', '/started', '/new-order'])('with %s is a text', (text) => {
    expect(request({ text })).toEqual({ kind: 'text', text });
  });

  test('with nothing but a mention greets the bot', () => {
    expect(request({ ...GROUP, ...mention('@ShopBot', '@ShopBot') })).toEqual({
      kind: 'command',
      command: 'start',
    });
  });

  test.each(['👍🏽', '😀😀😀', 'שלום', 'مرحبا، أين طلبي؟'])('with %s is a text', (text) => {
    expect(request({ text })).toEqual({ kind: 'text', text });
    const mentioned = mention(`😀 @ShopBot ${text}`, '@ShopBot');
    expect(request({ ...GROUP, ...mentioned })).toEqual({ kind: 'text', text: `😀  ${text}` });
  });

  test('of 1 MiB with many long mentions is read in parts', () => {
    const text = 'x'.repeat(500_000);
    const entities = Array.from({ length: 9_000 }, (_, index) => ({
      type: 'mention',
      offset: index,
      length: index < 50 ? text.length : 8,
    }));
    const lower = vi.spyOn(String.prototype, 'toLowerCase');
    const read = request({ ...GROUP, text, entities });
    const lengths = lower.mock.contexts.map((one) => String(one).length);
    lower.mockRestore();
    expect(read).toBeUndefined();
    expect(lengths.length).toBeLessThan(500);
    expect(Math.max(...lengths)).toBeLessThan(500);
  });

  test('has a text without characters that cannot be stored', () => {
    expect(request({ text: 'a\u0000b\uD800' })).toEqual({ kind: 'text', text: 'a\uFFFDb\uFFFD' });
  });

  test.each([
    ['no object', null],
    ['another kind', { update_id: 1, callback_query: {} }],
    ['a channel post', { update_id: 1, channel_post: { text: 'Hi' } }],
    ['an edited message', { update_id: 1, edited_message: update({ text: 'Hi' }).message }],
    ['a message of a bot', update({ text: 'Hi', from: { id: 1, is_bot: true } })],
    ['a message without a sender', update({ text: 'Hi', from: undefined })],
    ['a notice', update({ pinned_message: {} })],
    ['an id beyond 2^53', update({ text: 'Hi' }, 2 ** 53)],
    ['a chat id beyond 2^53', update({ text: 'Hi', chat: { id: 1e300, type: 'private' } })],
    ['an empty message', update({})],
    ['an id that is text', update({ text: 'Hi' }, '1')],
    ['a text that is a list', update({ text: ['Hi'] })],
    ['a command to another bot', update({ text: '/start@OtherBot' })],
    ['a group message to nobody', update({ ...GROUP, text: 'Hi' })],
    ['a group mention of another bot', update({ ...GROUP, ...mention('@OtherBot', '@OtherBot') })],
    [
      'a mention that lies about its place',
      update({ ...GROUP, text: 'x', entities: [{ type: 'mention', offset: 1e9, length: -5 }] }),
    ],
    [
      'a reply to another member',
      update({ ...GROUP, text: 'Hi', reply_to_message: { from: { id: 42 } } }),
    ],
  ])('needs no answer if it is %s', (_what, input) => {
    expect(readUpdate(input, BOT)).toBeUndefined();
  });
});
