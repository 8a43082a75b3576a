/** `npm run test:long` repeats the tests with random input longer. */
const isLong = process.env.TEST_LONG === 'true';

/** How long one property is checked in a long run. */
const PROPERTY_MS = 4_000;

/** The number of random inputs for one test. */
export const rounds = (few: number, many: number): number => (isLong ? many : few);

/** Parameters for `fc.assert`: few runs, or as many as a long run has time for. */
export const runsOf = (few: number) =>
  isLong ? { numRuns: 1_000_000, interruptAfterTimeLimit: PROPERTY_MS } : { numRuns: few };
