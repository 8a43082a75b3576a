import { describe, expect, test } from 'vitest';
import { createNotices } from '../../src/coordination/notices.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';

describe('the notices of a channel', () => {
  const open = () => {
    const pubsub = createPubSub();
    const reader = new AbortController();
    const follow = createNotices(pubsub);
    const notices = follow('news', reader.signal);
    const messages = {
      next: async () => {
        const { done, value } = await notices.next();
        return { done, value: value?.message };
      },
    };
    return { ...pubsub, follow, messages, leave: () => reader.abort(), signal: reader.signal };
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

  test('are the same object for all readers, which share what is read for it', async () => {
    const { publish, follow, signal } = open();
    const readers = [follow('news', signal), follow('news', signal)];
    const next = readers.map((reader) => reader.next());
    publish('news', 'a');
    let reads = 0;
    const read = async () => {
      reads += 1;
      return reads;
    };
    const notices = (await Promise.all(next)).flatMap(({ value }) => value ?? []);
    expect(await Promise.all(notices.map(({ once }) => once('row', read)))).toEqual([1, 1]);
    expect(await notices[0]?.once('other row', read)).toBe(2);

    const later = readers.map((reader) => reader.next());
    publish('news', 'a');
    const [notice] = (await Promise.all(later)).map(({ value }) => value);
    expect(await notice?.once('row', read)).toBe(3);
  });

  test('need one subscription, which ends with the last reader', async () => {
    const subscribed: string[] = [];
    const ended: string[] = [];
    const follow = createNotices({
      publish: () => {},
      flush: async () => {},
      subscribe: (channel) => {
        subscribed.push(channel);
        return () => void ended.push(channel);
      },
    });
    const clients = [new AbortController(), new AbortController()];
    const next = clients.map(({ signal }) => follow('news', signal).next());
    expect(subscribed).toEqual(['news']);
    clients[0]?.abort();
    await next[0];
    expect(ended).toEqual([]);
    clients[1]?.abort();
    await next[1];
    expect(ended).toEqual(['news']);
  });

  test('end at once for a reader that leaves while waiting', async () => {
    const { messages, leave } = open();
    const next = messages.next();
    leave();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
