import { expect } from 'vitest';

/** Parts of an input. Linear work costs as much for all parts as for the whole; quadratic work costs 8 times as much. */
const PARTS = 8;
/**
 * The most that the whole may cost, in costs of its parts. Memory makes linear work slower too: a part fits the caches of a
 * processor and the whole does not, which cost 2.5-fold on a busy machine.
 */
const MAX_GROWTH = 4;
/** Milliseconds of CPU time that are not compared: the collection of garbage. */
const NOISE_MS = 20;
/** The most measurements. Linux counts the CPU time of a thread in steps of 4 or 10 ms, which only an average evens out. */
const ROUNDS = 20;

/** Repeats a part up to a length. */
export const repeatTo = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

/**
 * Fails if the CPU time of work for `4 * size` is more than 4-fold the time of the same work for eight inputs of `size / 2`.
 * It measures the CPU time of this thread, and takes the average of several runs.
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
  let [timeOfWhole, timeOfParts] = [0, 0];
  for (let round = 1; ; round += 1) {
    timeOfParts += await cpuTimeOf(part, PARTS);
    timeOfWhole += await cpuTimeOf(whole, 1);
    const [ofParts, ofWhole] = [timeOfParts / round, timeOfWhole / round];
    const isLinear = ofWhole <= MAX_GROWTH * ofParts + NOISE_MS;
    if (isLinear || round >= rounds) {
      const times = `${PARTS} parts: ${ofParts.toFixed(1)} ms, whole: ${ofWhole.toFixed(1)} ms`;
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
