import { onTestFailed } from 'vitest';
import { type Random, seededRandom } from './seeded-random.ts';

/** Random numbers for one test. A failing test prints its seed, and `TEST_SEED` repeats it. */
export function testRandom(seed = Number(process.env.TEST_SEED ?? Date.now() % 1e9)): Random {
  onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random numbers of this test.`));
  return seededRandom(seed);
}
