import { expect, test } from 'vitest';
import { LOOK_EVERY_MS } from '../../../src/coordination/looks.ts';
import { DEAD_AFTER_MS, HEARTBEAT_MS } from '../../../src/coordination/worker-lease.ts';

/** Twice the time that docs/operations.md promises for the runs of a killed process. */
const LIMIT_MS = 30_000;

test('a run of a killed process ends within 30 seconds: the waits add up to less', () => {
  // The heartbeat expires, another process evicts its owner with its next heartbeat, and it or another one looks for lost runs.
  expect(DEAD_AFTER_MS + HEARTBEAT_MS + LOOK_EVERY_MS).toBeLessThan(LIMIT_MS / 2);
});
