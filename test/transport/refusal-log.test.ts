import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRefusalLog } from '../../src/transport/refusal-log.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A log, and its lines: the number of the request, and of the suppressed ones before it. */
function recorded() {
  const log = createRefusalLog();
  const lines: [request: number, suppressed: number][] = [];
  let requests = 0;
  const note = (address = '192.0.2.1') => {
    requests += 1;
    const request = requests;
    log.note(address, (suppressed) => lines.push([request, suppressed]));
  };
  return { ...log, note, lines };
}

test('the first refused request of an address has a line at once, and the last one of each second', async () => {
  const { note, lines } = recorded();
  for (let count = 0; count < 5; count += 1) note();
  expect(lines).toEqual([[1, 0]]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines).toEqual([
    [1, 0],
    [5, 3],
  ]);
  note();
  note();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines.slice(2)).toEqual([[7, 1]]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toHaveLength(3);
  note();
  expect(lines.slice(3)).toEqual([[8, 0]]);
});

test('addresses have separate lines, at most 100 of them in a second', async () => {
  const { note, lines } = recorded();
  for (let address = 0; address < 1_000; address += 1) note(`192.0.2.${address}`);
  expect(lines).toHaveLength(101);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines.slice(101)).toEqual([[1_000, 898]]);
});

test('the lines that wait are written at the end', () => {
  const { note, flush, lines } = recorded();
  for (let count = 0; count < 4; count += 1) note();
  flush();
  expect(lines).toEqual([
    [1, 0],
    [4, 2],
  ]);
  flush();
  expect(lines).toHaveLength(2);
});
