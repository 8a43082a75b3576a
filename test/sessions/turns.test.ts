import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTurns } from '../../src/sessions/turns.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const forever = new AbortController().signal;
const settled = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);

describe('the turns of a session', () => {
  test('go one at a time, in arrival order', async () => {
    const turns = createTurns();
    const order: number[] = [];
    const release = await turns.take('s', forever);
    const waiting = [1, 2, 3].map(async (number) => {
      const next = await turns.take('s', forever);
      order.push(number);
      next();
    });
    expect(order).toEqual([]);
    release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  test('do not wait for those of other sessions', async () => {
    const turns = createTurns();
    await turns.take('s', forever);
    await turns.take('t', forever);
  });

  test('are given back once, however often that is said', async () => {
    const turns = createTurns();
    const release = await turns.take('s', forever);
    const second = turns.take('s', forever);
    const third = turns.take('s', forever);
    release();
    release();
    await second;
    expect(await settled(third)).toBe(false);
  });

  test('are waited for by 16 at most', async () => {
    const turns = createTurns();
    await turns.take('s', forever);
    for (let waiting = 0; waiting < 16; waiting += 1) void turns.take('s', forever);
    await expect(turns.take('s', forever)).rejects.toMatchObject({ code: 'session_busy' });
  });

  test('are waited for 60 seconds at most', async () => {
    const turns = createTurns();
    const release = await turns.take('s', forever);
    const late = expect(turns.take('s', forever)).rejects.toMatchObject({ code: 'session_busy' });
    await vi.advanceTimersByTimeAsync(60_000);
    await late;
    release();
    await turns.take('s', forever);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('pass by those who have left', async () => {
    const turns = createTurns();
    const release = await turns.take('s', forever);
    const leaving = new AbortController();
    const left = turns.take('s', leaving.signal);
    const next = turns.take('s', forever);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    release();
    await next;
    expect(vi.getTimerCount()).toBe(0);
    await expect(turns.take('s', AbortSignal.abort())).rejects.toThrow('aborted');
  });
});
