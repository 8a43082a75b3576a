import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Child, startServer } from '../bench/child.ts';
import { boundsFor } from './bounds.ts';
import { costProblems } from './documents/run.ts';
import { NO_WAITS, type StallWatch, stallOf, sum, watchStalls } from './stalls.ts';

test.each([
  ['a server that is busy for the whole time', { latencyMs: 400, busyMs: 395, lateMs: 1 }, 394],
  ['a server that has no CPU', { latencyMs: 400, busyMs: 30, lateMs: 0 }, 30],
  ['a response that is read late', { latencyMs: 400, busyMs: 400, lateMs: 380 }, 20],
  ['a control timer later than the response', { latencyMs: 10, busyMs: 5, lateMs: 40 }, 0],
  ['a system without statistics', { latencyMs: 400, busyMs: undefined, lateMs: 10 }, 390],
])('the stall of %s', (_what, wait, stall) => {
  expect(stallOf(wait)).toBe(stall);
});

test('waits of two periods add up', () => {
  const one = { requests: 2, unanswered: 1, longestStallMs: 30, longestLatencyMs: 40 };
  const other = { requests: 3, unanswered: 0, longestStallMs: 10, longestLatencyMs: 90 };
  expect(sum(sum(NO_WAITS, one), other)).toEqual({
    requests: 5,
    unanswered: 1,
    longestStallMs: 30,
    longestLatencyMs: 90,
  });
});

test.each([false, true])(
  'a document that exceeds a bound is a problem, in a short run: %s',
  (isShort) => {
    const bounds = boundsFor(isShort);
    const small = { stallMs: 10, growthMebibytes: 1, bytes: 100, status: 200, errors: '', ms: 5 };
    const cost = { name: 'query of Run', query: '{ run }', ...small };
    expect(costProblems([cost], bounds)).toEqual([]);
    for (const more of [
      { stallMs: bounds.stallMs + 1 },
      { growthMebibytes: bounds.growthMebibytes + 1 },
      { bytes: bounds.answerBytes + 1 },
      { status: 0 },
      { errors: 'INTERNAL_ERROR' },
    ]) {
      expect(costProblems([{ ...cost, ...more }], bounds)).toEqual([
        expect.stringMatching(/^query of Run: .*\{ run \}$/),
      ]);
    }
  },
);

const stack = new AsyncDisposableStack();
const { signal } = new AbortController();
let server: Child;
let watch: StallWatch;
beforeAll(async () => {
  server = await startServer({ file: '../hostile/stalling-server.ts', signal, stack });
  watch = await watchStalls(server, { signal, stack });
});
afterAll(() => stack.disposeAsync());

test('a server that computes for 500 ms stalls', async () => {
  await watch.readPhase();
  await fetch(`${server.url}/compute?ms=500`);
  const { requests, unanswered, longestStallMs } = await watch.readPhase();
  expect(longestStallMs).toBeGreaterThan(250);
  expect({ requests, unanswered }).toEqual({ requests: expect.any(Number), unanswered: 0 });
});

test('a server that answers late without computing does not stall', async () => {
  await watch.readPhase();
  await fetch(`${server.url}/delay?ms=500`);
  const { longestStallMs, longestLatencyMs } = await watch.readPhase();
  expect(longestLatencyMs).toBeGreaterThan(250);
  expect(longestStallMs).toBeLessThan(250);
});
