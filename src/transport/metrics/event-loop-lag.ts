import { type PeriodicTask, startPeriodic } from '../../async/periodic.ts';

const EVERY_MS = 100;

/**
 * Measures how late timers fire: the time for which the process could not serve any client.
 *
 * @param observe receives the lag in seconds, ten times a second.
 */
export function startEventLoopLag(observe: (seconds: number) => void): PeriodicTask {
  let expectedAt = performance.now() + EVERY_MS;
  const measure = () => {
    const now = performance.now();
    observe(Math.max(now - expectedAt, 0) / 1_000);
    expectedAt = now + EVERY_MS;
  };
  return startPeriodic(measure, { everyMs: EVERY_MS });
}
