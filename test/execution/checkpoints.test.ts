import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCheckpoints } from '../../src/execution/checkpoints.ts';
import type { NewPiece } from '../../src/runs/life/progress.ts';
import { createEventLog } from '../../src/runs/record/events.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A run whose pieces are noted with their times. @param write stores a piece. */
function startRun(write: (written: number) => Promise<void> | void = () => {}) {
  const pieces: (NewPiece & { atMs: number })[] = [];
  const errors: string[] = [];
  const begunAt = performance.now();
  const keepCheckpoints = createCheckpoints({
    runs: {
      async progress(_run, piece) {
        pieces.push({ ...piece, atMs: performance.now() - begunAt });
        await write(pieces.length);
      },
    },
    keepsToolTexts: false,
    log: { error: (_fields: object, message: string) => errors.push(message) } as never,
  });
  const events = createEventLog(Date.now, () => {});
  events.append({ type: 'RunStarted', runId: 'run_1', sessionId: null });
  const checkpoints = keepCheckpoints({
    begun: { id: 'run_1', botId: 'bot', ownerId: 'own_1', attempt: 1 },
    createdAt: Date.now(),
    events,
    trace: { interrupted: () => [], changes: () => 0 },
  });
  /** Adds an event every 50 ms. */
  const say = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      events.append({ type: 'TextDelta', delta: 'word ' });
      await vi.advanceTimersByTimeAsync(50);
    }
  };
  const pauses = () => pieces.slice(1).map(({ atMs }, index) => atMs - (pieces[index]?.atMs ?? 0));
  return { pieces, pauses, errors, checkpoints, say };
}

/** The numbers of the events in pieces. */
const numbersIn = (pieces: NewPiece[]) =>
  pieces.flatMap(({ fromSeq, events }) => events.map((_, index) => fromSeq + index));

describe('the checkpoints of a run', () => {
  test('are 250 ms apart at first, and a second apart after 150 events', async () => {
    const { pieces, pauses, say } = startRun();
    await say(400);
    expect(pieces[0]?.atMs).toBe(250);
    const [first = 0, ...others] = pauses();
    expect(first).toBeLessThanOrEqual(375);
    for (const [index, pause] of others.entries())
      expect(pause).toBeGreaterThanOrEqual(others[index - 1] ?? first);
    const late = pieces.findIndex(({ fromSeq }) => fromSeq > 150);
    expect(new Set(pauses().slice(late))).toEqual(new Set([1_000]));
    expect(pieces.length).toBeLessThanOrEqual(27);
  });

  test('store each event once, in order', async () => {
    const { pieces, say } = startRun();
    await say(100);
    const numbers = numbersIn(pieces);
    expect(numbers.length).toBeGreaterThan(80);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test('write nothing while nothing is new', async () => {
    const { pieces, say } = startRun();
    await say(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(pieces).toHaveLength(1);
  });

  test('repeat what could not be stored', async () => {
    const { pieces, errors, say } = startRun((written) => {
      if (written === 1) throw new Error('mine');
    });
    await say(20);
    expect(errors).toEqual(['Run checkpoint failed. It will be retried.']);
    const [, ...stored] = pieces;
    const numbers = numbersIn(stored);
    expect(numbers.length).toBeGreaterThan(10);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test('pause four times as long as a slow write took', async () => {
    const { pauses, say } = startRun(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
    await say(400);
    expect(new Set(pauses())).toEqual(new Set([5_000]));
  });

  test('end with the run', async () => {
    const { pieces, checkpoints, say } = startRun();
    await say(10);
    const before = pieces.length;
    await checkpoints[Symbol.asyncDispose]();
    await say(40);
    expect(before).toBeGreaterThan(0);
    expect(pieces).toHaveLength(before);
    expect(checkpoints.hasProgress).toBe(true);
  });
});
