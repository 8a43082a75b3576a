import { describe, expect, test } from 'vitest';
import { latest } from '../../src/coordination/latest.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';

describe('the latest messages of a channel', () => {
  const open = () => {
    const pubsub = createPubSub();
    const reader = new AbortController();
    const messages = latest(pubsub, 'news', reader.signal);
    return { ...pubsub, messages, leave: () => reader.abort() };
  };

  test('reach a slow reader once each, with the latest change last', async () => {
    const { publish, messages, leave } = open();
    const first = messages.next();
    for (const message of ['a', 'b', 'a', 'c', 'a', 'b']) publish('news', message);
    expect(await first).toEqual({ done: false, value: 'c' });
    expect([(await messages.next()).value, (await messages.next()).value]).toEqual(['a', 'b']);
    leave();
    expect((await messages.next()).done).toBe(true);
  });

  test('are kept for a stalled reader up to a limit', async () => {
    const { publish, messages } = open();
    const first = messages.next();
    for (let count = 0; count < 5_000; count += 1) publish('news', `m${count}`);
    expect((await first).value).toBe('m4000');
  });

  test('end at once for a reader that leaves while waiting', async () => {
    const { messages, leave } = open();
    const next = messages.next();
    leave();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
