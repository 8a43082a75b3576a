import { expect } from 'vitest';

/** Parts of an input. Linear work costs as much for all parts as for the whole; quadratic work costs 8 times as much. */
const PARTS = 8;
/**
 * The most that the whole may cost, in costs of its parts. Memory makes linear work slower too: a part fits the caches of a
 * processor and the whole does not, which cost 2.5-fold on a busy machine.
 */
const MAX_GROWTH = 4;
/**
 * Milliseconds of CPU time that are not compared. The least time of the parts may lack a step of the clock, which is 4 ms on
 * Linux and counts 4-fold. The rest is for the collection of garbage.
 */
const NOISE_MS = 20;
/** Rounds of measurements. A further round only lowers the times, so that a busy machine cannot fail a test for long. */
const ROUNDS = 20;

/** Repeats a part up to a length. */
export const repeatTo = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

/**
 * Fails if the CPU time of work for `4 * size` is more than 4-fold the time of the same work for eight inputs of `size / 2`.
 * It measures the CPU time of this thread, and takes the least of several runs.
 *
 * @param make prepares the work for an input of a size. Only the work is measured.
 */
export async function expectLinear(
  make: (size: number) => () => unknown,
  size: number,
  rounds = ROUNDS,
): Promise<void> {
  const whole = make(4 * size);
  const part = make((4 * size) / PARTS);
  let [leastOfWhole, leastOfParts] = [Infinity, Infinity];
  for (let round = 0; ; round += 1) {
    leastOfParts = Math.min(leastOfParts, await cpuTimeOf(part, PARTS));
    leastOfWhole = Math.min(leastOfWhole, await cpuTimeOf(whole, 1));
    const isLinear = leastOfWhole <= MAX_GROWTH * leastOfParts + NOISE_MS;
    if (isLinear || round === rounds) {
      const times = `${PARTS} parts: ${leastOfParts.toFixed(1)} ms, whole: ${leastOfWhole.toFixed(1)} ms`;
      expect(isLinear, times).toBe(true);
      return;
    }
  }
}

/** Milliseconds of CPU time of this thread. */
async function cpuTimeOf(work: () => unknown, times: number): Promise<number> {
  const before = process.threadCpuUsage();
  for (let count = 0; count < times; count += 1) await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
