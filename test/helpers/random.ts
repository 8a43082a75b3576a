import { onTestFailed } from 'vitest';

/** Chance that can be had again: the same numbers for the same seed. */
export type Random = {
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** One of those. */
  pick<T>(from: readonly [T, ...T[]]): T;
};

/** Chance for a test, whose seed is told where the test fails: `TEST_SEED` runs it again. */
export function testRandom(seed = Number(process.env.TEST_SEED ?? Date.now() % 1e9)): Random {
  onTestFailed(() => console.error(`The test's chance can be had again with TEST_SEED=${seed}.`));
  return seededRandom(seed);
}

/** Source: Mulberry32, which is in the public domain. */
export function seededRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return { int, pick: (from) => from[int(0, from.length - 1)] ?? from[0] };
}
