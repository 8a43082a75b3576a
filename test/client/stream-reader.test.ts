import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/client/stream-reader.ts';

type Event = { seq?: number; text: string };

/** A source whose requests get these answers in order: the events before a lost connection, or `undefined`. */
function sourceOf(answers: (Event[] | undefined)[], maxFailures = 5) {
  const opened: (number | undefined)[] = [];
  const failures: number[] = [];
  const controller = new AbortController();
  const source = {
    signal: controller.signal,
    async open(after: number | undefined) {
      const events = answers[opened.push(after) - 1];
      return (
        events &&
        (async function* () {
          yield* events;
        })()
      );
    },
    async recover(error: unknown, failed: number) {
      failures.push(failed);
      if (failed >= maxFailures) throw error;
    },
  };
  return { source, opened, failures, controller };
}

describe('a stream', () => {
  test('continues after the number of its last event until the server has no more', async () => {
    const { source, opened } = sourceOf([
      [
        { seq: 1, text: 'a' },
        { seq: 2, text: 'b' },
      ],
      [],
      [{ seq: 3, text: 'c' }],
      undefined,
    ]);
    const events = await Array.fromAsync(readStream<Event>(source));
    expect(events.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    expect(opened).toEqual([undefined, 2, 2, 3]);
  });

  test('begins anew if its events have no numbers, and after the number that its caller names', async () => {
    const anew = sourceOf([[{ text: 'a' }], undefined]);
    await Array.fromAsync(readStream<Event>(anew.source));
    expect(anew.opened).toEqual([undefined, undefined]);
    const later = sourceOf([undefined]);
    await Array.fromAsync(readStream<Event>(later.source, 7));
    expect(later.opened).toEqual([7]);
  });

  test('counts failures in a row, and ends with the error of its last attempt', async () => {
    const { source, failures } = sourceOf([[{ seq: 1, text: 'a' }], [], [], []], 2);
    await expect(Array.fromAsync(readStream<Event>(source))).rejects.toMatchObject({
      code: 'connection_error',
    });
    expect(failures).toEqual([0, 1, 2]);
  });

  test('ends with the reason of its signal, also between events of one response', async () => {
    const { source, controller, opened } = sourceOf([[{ text: 'a' }, { text: 'b' }]]);
    const read: string[] = [];
    const reason = new Error('Enough.');
    await expect(async () => {
      for await (const { text } of readStream<Event>(source)) {
        read.push(text);
        controller.abort(reason);
      }
    }).rejects.toBe(reason);
    expect([read, opened.length]).toEqual([['a'], 1]);
  });
});
