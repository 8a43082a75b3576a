import { MAX_INT } from '../../storage/int.ts';

/**
 * Tells the times of a run's events, in milliseconds since 1970 by the database's clock. None is later than `MAX_INT`
 * milliseconds (24 days) after the run's creation, the longest time that a row holds.
 */
export type RunClock = {
  /** When the run was created. */
  createdAt: number;
  /** When this attempt started. */
  startedAt: number;
  now(): number;
};

/**
 * Continues the database's clock by the process's monotonic one, so that a change of this machine's time changes no
 * event's time.
 *
 * @param answeredAt the database's current time.
 */
export function createRunClock(times: {
  createdAt: number;
  startedAt: number;
  answeredAt: number;
}): RunClock {
  const { createdAt } = times;
  const latest = createdAt + MAX_INT;
  const startedAt = Math.min(times.startedAt, latest);
  const ahead = Math.max(times.answeredAt, startedAt) - performance.now();
  return {
    createdAt,
    startedAt,
    now: () => Math.min(Math.floor(ahead + performance.now()), latest),
  };
}
