import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';
import type { Log } from '../observability/log.ts';

/** How often the tables of the embedded database are checked for growth. */
const ANALYZE_EVERY_MS = 60_000;

/** Analyzes the tables of the embedded database that have grown. */
export function startAnalysis(analyze: () => Promise<void>, log: Log): PeriodicTask {
  return startPeriodic(analyze, {
    everyMs: ANALYZE_EVERY_MS,
    isImmediate: true,
    log,
    what: 'Analysis of the embedded database',
  });
}
