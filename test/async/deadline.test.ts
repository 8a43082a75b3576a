import { getEventListeners, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startDeadline, untilAborted, withinTime } from '../../src/async/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a deadline', () => {
  test('aborts its signal after its time, with its reason', () => {
    const late = new Error('Too late.');
    using deadline = startDeadline(1_000, { reason: () => late });
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toBe(late);
  });

  test('has a TimeoutError as its reason by default', () => {
    using deadline = startDeadline(1_000);
    vi.advanceTimersByTime(1_000);
    expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('aborts with another signal, and with its reason', () => {
    const client = new AbortController();
    using deadline = startDeadline(1_000, { signal: client.signal });
    client.abort('gone');
    expect(deadline.signal.reason).toBe('gone');
    using second = startDeadline(1_000, { signal: client.signal });
    expect(second.signal.reason).toBe('gone');
  });

  test('removes its timer and its listener', () => {
    const client = new AbortController();
    startDeadline(1_000, { signal: client.signal })[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(client.signal, 'abort')).toEqual([]);
  });
});

describe('work until a signal aborts', () => {
  test('has its own outcome if it ends first', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve('done'), signal)).toBe('done');
    const failure = new Error('It failed.');
    await expect(untilAborted(Promise.reject(failure), signal)).rejects.toBe(failure);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('throws the reason of the signal, before or during the work', async () => {
    const client = new AbortController();
    const waiting = untilAborted(new Promise(() => {}), client.signal);
    client.abort('gone');
    await expect(waiting).rejects.toBe('gone');
    await expect(untilAborted(new Promise(() => {}), client.signal)).rejects.toBe('gone');
  });

  test('may fail later without an unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.once('unhandledRejection', unhandled);
    const { promise: work, reject } = Promise.withResolvers<void>();
    await expect(untilAborted(work, AbortSignal.abort('gone'))).rejects.toBe('gone');
    reject(new Error('It failed.'));
    const turn = new EventTarget();
    setImmediate(() => turn.dispatchEvent(new Event('next')));
    await once(turn, 'next');
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('work within a time', () => {
  test('has its own outcome if it ends first, and leaves no timer', async () => {
    expect(await withinTime(1_000, Promise.resolve('done'))).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('throws the reason when the time has passed', async () => {
    const late = new Error('Too late.');
    const silent = new Promise(() => {});
    const waiting = [withinTime(1_000, silent, () => late), withinTime(1_000, silent)];
    vi.advanceTimersByTime(1_000);
    expect(await Promise.allSettled(waiting)).toMatchObject([
      { reason: late },
      { reason: { name: 'TimeoutError' } },
    ]);
  });
});
