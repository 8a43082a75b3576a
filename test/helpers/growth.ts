import { expect } from 'vitest';

/** The most that twice the input may multiply the time by. Linear work multiplies it by 2, quadratic work by 4. */
const MAX_GROWTH = 2.5;
/**
 * Milliseconds of CPU time that are not compared. The least time of the smaller input may lack a step of the clock, which
 * is 4 ms on Linux and counts 2.5-fold. The rest is for the collection of garbage, and for the memory of large arrays, whose
 * allocation costs more from 128 KiB on.
 */
const NOISE_MS = 20;
/** Rounds of measurements. A further round only lowers the times, so that a busy machine cannot fail a test for long. */
const ROUNDS = 20;

/** Repeats a part up to a length. */
export const repeatTo = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

/**
 * Fails if the CPU time of work grows more than 2.5-fold when its input doubles, from `size` to 2 and to 4 times `size`.
 * It measures the CPU time of this thread, and takes the least of several runs.
 *
 * @param make prepares the work for an input of a size. Only the work is measured.
 */
export async function expectLinear(
  make: (size: number) => () => unknown,
  size: number,
  rounds = ROUNDS,
): Promise<void> {
  const works = [size, 2 * size, 4 * size].map((length) => ({
    work: make(length),
    least: Infinity,
  }));
  for (let round = 0; ; round += 1) {
    for (const one of works) {
      const before = process.threadCpuUsage();
      await one.work();
      const { user, system } = process.threadCpuUsage(before);
      one.least = Math.min(one.least, (user + system) / 1_000);
    }
    const [first = 0, second = 0, third = 0] = works.map(({ least }) => least);
    const isLinear =
      second <= MAX_GROWTH * first + NOISE_MS && third <= MAX_GROWTH * second + NOISE_MS;
    if (isLinear || round === rounds) {
      expect(isLinear, `${[first, second, third].map((ms) => ms.toFixed(1)).join(', ')} ms`).toBe(
        true,
      );
      return;
    }
  }
}
