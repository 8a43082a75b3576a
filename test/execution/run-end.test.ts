import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readReply } from '../../src/execution/reply.ts';
import { createStoreEnd } from '../../src/execution/run-end.ts';
import { UNOBSERVED } from '../../src/observability/observer.ts';
import { NO_MORE_TIME } from '../../src/runs/life/active-runs.ts';
import type { RunOutcome, Runs, StoredEnd } from '../../src/runs/life/runs.ts';
import { createEventLog } from '../../src/runs/record/events.ts';
import { cutError } from '../helpers/lossy-database.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => vi.useRealTimers());

const OUTCOME: RunOutcome = {
  status: 'COMPLETED',
  response: 'Hello.',
  latencyMs: 7,
  promptTokens: 1,
  completionTokens: 2,
  tokensEstimated: false,
  toolsCalled: [],
  spans: [],
  hasProgress: false,
  events: [],
  eventTimes: [],
};
const END = {
  deploymentId: 'dep_1',
  finishReason: null,
  promptTokens: 1,
  completionTokens: 2,
  cachedTokens: null,
  reasoningTokens: null,
};
const DONE = {
  ...{ type: 'ChatDone' as const, runId: 'run_1', latencyMs: 7, tokensUsed: 3, toolsCalled: [] },
  end: END,
};
const session = { key: 'ses_1', turns: 0, leaseId: 'trn_1' };

/** Ends a run with a database that responds as the test defines. */
function endRun(runs: Partial<Pick<Runs, 'end' | 'endWithoutTurn'>>) {
  const stop = new AbortController();
  const stall = vi.fn();
  const log = { warn: () => {}, error: () => {} };
  const end = async (): Promise<StoredEnd> => ({ finishedAt: 5_000 });
  const storeEnd = createStoreEnd({
    runs: { end, endWithoutTurn: end, ...runs },
    observer: UNOBSERVED,
    log,
  });
  const run = {
    begun: { id: 'run_1', botId: 'bot', ownerId: 'own_1', attempt: 1 },
    labels: { kind: 'CHAT', channel: 'API' } as const,
    trace: { finish: () => [] },
    events: { stall },
    outcome: OUTCOME,
    task: { message: 'Hi', session },
    deploymentId: 'dep_1',
    newMessages: [],
    since: performance.now(),
  };
  const event = storeEnd(run, stop.signal);
  return { event, stall, stop: () => stop.abort(NO_MORE_TIME) };
}

describe('the end of a run', () => {
  test('is stored with retries until an outage ends', async () => {
    let isDown = true;
    let attempts = 0;
    const { event, stall } = endRun({
      end: async () => {
        attempts += 1;
        if (isDown) throw cutError();
        return { finishedAt: 5_000 };
      },
    });
    await vi.advanceTimersByTimeAsync(6_999);
    expect(stall).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(stall).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(attempts).toBeGreaterThan(3_600);
    isDown = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await event).toEqual({ ...DONE, at: 5_000 });
  });

  test('is left to recovery 3 seconds after the shutdown limit', async () => {
    const { event, stop } = endRun({
      end: async () => {
        throw cutError();
      },
    });
    stop();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await event).toBeUndefined();
  });

  test('is a failure without messages if the database refuses it or the turn was lost', async () => {
    const refusal = Object.assign(new Error('duplicate key value'), { code: '23505' });
    for (const end of [async () => Promise.reject(refusal), async () => 'held' as const]) {
      const endWithoutTurn = vi.fn(async (): Promise<StoredEnd> => ({ finishedAt: 5_000 }));
      const { event } = endRun({ end, endWithoutTurn });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await event).toMatchObject({ type: 'ChatFailed', code: 'internal_error' });
      expect(endWithoutTurn).toHaveBeenCalledExactlyOnceWith(
        expect.anything(),
        expect.objectContaining({ status: 'FAILED' }),
        { session, messages: undefined },
      );
    }
  });

  test('is the stored one, even if another process stored it', async () => {
    const cancelled = {
      type: 'ChatCancelled',
      runId: 'run_1',
      latencyMs: 5,
      tokensUsed: 1,
    } as const;
    const ends: [StoredEnd, object][] = [
      [
        { ...cancelled, seq: 9, at: 5_000 },
        { ...cancelled, at: 5_000 },
      ],
      ['lost', { type: 'ChatFailed', code: 'interrupted' }],
      ['deleted', { type: 'ChatFailed', code: 'internal_error' }],
    ];
    for (const [stored, event] of ends) {
      expect(await endRun({ end: async () => stored }).event).toMatchObject(event);
    }
  });
});

describe('a run whose end cannot be stored yet', () => {
  test('continues for streams, while a whole reply fails because its end is unknown', async () => {
    const log = createEventLog(Date.now, () => {});
    const { signal } = new AbortController();
    const stream = Array.fromAsync(log.read(signal), ({ type }) => type);
    const start = async () => ({
      id: 'run_1',
      isReplayed: false,
      read: (reader: AbortSignal, options?: object) => log.read(reader, 0, options),
    });
    const reply = readReply(start, signal);
    log.append({ type: 'RunStarted', runId: 'run_1', sessionId: null });
    log.stall();
    expect((await reply).end).toMatchObject({
      name: 'GatewayError',
      code: 'internal_error',
      runId: 'run_1',
      message: expect.stringContaining('not known yet'),
      retryAfter: 5,
    });
    log.append(DONE);
    log.end();
    expect(await stream).toEqual(['RunStarted', 'ChatDone']);
  });
});
