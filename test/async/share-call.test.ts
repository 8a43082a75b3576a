import { expect, test } from 'vitest';
import { createSharedCalls } from '../../src/async/share-call.ts';

const never = new AbortController().signal;

/** Shared calls that end when the test says so. */
function callsOf() {
  const calls = createSharedCalls<string>();
  const started: {
    signal: AbortSignal;
    end: (result: string) => void;
    fail: (error: Error) => void;
  }[] = [];
  const call = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    started.push({ signal, end: resolve, fail: reject });
    return promise;
  };
  return { started, join: (key: string, signal = never) => calls.join(key, call, signal) };
}

test('callers with the same key share a call, and the next one starts another', async () => {
  const { started, join } = callsOf();
  const first = [join('a'), join('a'), join('b')];
  expect(started).toHaveLength(2);
  started[0]?.end('one');
  started[1]?.end('two');
  expect(await Promise.all(first)).toEqual(['one', 'one', 'two']);
  const next = join('a');
  started[2]?.end('three');
  expect(await next).toBe('three');
});

test('a caller that leaves ends its wait alone, and the last one ends the call', async () => {
  const { started, join } = callsOf();
  const [one, other] = [new AbortController(), new AbortController()];
  const waits = [join('a', one.signal), join('a', other.signal)];
  one.abort(new Error('The first one left.'));
  await expect(waits[0]).rejects.toThrow('The first one left.');
  expect(started[0]?.signal.aborted).toBe(false);
  other.abort(new Error('The last one left.'));
  await expect(waits[1]).rejects.toThrow('The last one left.');
  expect(started[0]?.signal.aborted).toBe(true);
  const next = join('a');
  expect(started).toHaveLength(2);
  // The abandoned call fails late, which disturbs nobody.
  started[0]?.fail(new Error('Too late.'));
  started[1]?.end('next');
  expect(await next).toBe('next');
});

test('a failed call fails for all, and a client that has left starts none', async () => {
  const { started, join } = callsOf();
  const waits = [join('a'), join('a')];
  started[0]?.fail(new Error('It failed.'));
  await Promise.all(waits.map((wait) => expect(wait).rejects.toThrow('It failed.')));
  await expect(join('a', AbortSignal.abort(new Error('Gone.')))).rejects.toThrow('Gone.');
  expect(started).toHaveLength(1);
});
