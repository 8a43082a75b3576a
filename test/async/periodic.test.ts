import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startPeriodic } from '../../src/async/periodic.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = async (milliseconds: number) => {
  vi.advanceTimersByTime(milliseconds);
  await setImmediate();
};

describe('a periodic task', () => {
  test('runs after each interval, and immediately only on request', async () => {
    const [later, immediate] = [vi.fn(), vi.fn()];
    await using _later = startPeriodic(later, { everyMs: 1_000 });
    await using _immediate = startPeriodic(immediate, { everyMs: 1_000, isImmediate: true });
    await setImmediate();
    expect([later, immediate].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
    for (const runs of [1, 2]) {
      await pass(1_000);
      expect(later).toHaveBeenCalledTimes(runs);
    }
    expect(immediate).toHaveBeenCalledTimes(3);
  });

  test('stops its interval while there is no work', async () => {
    let hasWork = false;
    const run = vi.fn();
    await using task = startPeriodic(run, { everyMs: 1_000, hasWork: () => hasWork });
    expect(vi.getTimerCount()).toBe(0);
    hasWork = true;
    task.resume();
    task.resume();
    for (const _ of [1, 2]) await pass(1_000);
    expect(run).toHaveBeenCalledTimes(2);
    hasWork = false;
    await pass(1_000);
    expect(run).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
    await task[Symbol.asyncDispose]();
    task.resume();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('never overlaps itself', async () => {
    const runs: PromiseWithResolvers<void>[] = [];
    const run = () => {
      const work = Promise.withResolvers<void>();
      runs.push(work);
      return work.promise;
    };
    const task = startPeriodic(run, { everyMs: 1_000 });
    await pass(3_000);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await setImmediate();
    await pass(1_000);
    expect(runs).toHaveLength(2);
    runs[1]?.resolve();
    await task[Symbol.asyncDispose]();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('It failed.');
      },
    ],
    ['rejects', () => Promise.reject(new Error('It failed.'))],
  ])('continues after a run that %s, and logs the failure', async (_how, fail) => {
    const log = { warn: vi.fn(), error: vi.fn() };
    const run = vi.fn(fail);
    const reporting = { log, what: 'The sweep', fields: { runId: 'run_1' } };
    await using _task = startPeriodic(run, { everyMs: 1_000, isImmediate: true, ...reporting });
    await setImmediate();
    expect(log.error.mock.calls).toEqual([
      [{ runId: 'run_1', err: new Error('It failed.') }, 'The sweep failed. It will be retried.'],
    ]);
    await pass(1_000);
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('that is disposed of aborts its run, waits for it, and never runs again', async () => {
    const work = Promise.withResolvers<void>();
    let stopped: AbortSignal | undefined;
    const run = vi.fn((signal: AbortSignal) => {
      stopped = signal;
      return work.promise;
    });
    const task = startPeriodic(run, { everyMs: 1_000, isImmediate: true });
    let isDisposed = false;
    const disposed = task[Symbol.asyncDispose]().then(() => {
      isDisposed = true;
    });
    await setImmediate();
    expect([stopped?.aborted, isDisposed]).toEqual([true, false]);
    work.resolve();
    await disposed;
    await pass(10_000);
    expect(run).toHaveBeenCalledOnce();
  });

  test('that is disposed of between its runs aborts nothing', async () => {
    const signals: AbortSignal[] = [];
    const run = (signal: AbortSignal) => signals.push(signal);
    const task = startPeriodic(run, { everyMs: 1_000, isImmediate: true });
    await setImmediate();
    await pass(1_000);
    await task[Symbol.asyncDispose]();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test('that is restarted waits a whole interval again', async () => {
    const run = vi.fn();
    await using task = startPeriodic(run, { everyMs: 1_000 });
    await pass(999);
    task.restart();
    await pass(999);
    expect(run).not.toHaveBeenCalled();
    await pass(1);
    expect(run).toHaveBeenCalledOnce();
  });
});
