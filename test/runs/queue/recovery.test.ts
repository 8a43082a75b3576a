import { expect, test } from 'vitest';
import { DEAD_AFTER_MS, HEARTBEAT_MS } from '../../../src/coordination/worker-lease.ts';
import { POLL_EVERY_MS } from '../../../src/runs/queue/recovery.ts';

/** Twice the time that docs/operations.md promises for the runs of a killed process. */
const LIMIT_MS = 30_000;

test('a run of a killed process ends within 30 seconds: the waits add up to less', () => {
  // The heartbeat expires, another process evicts its owner with its next heartbeat, and polls for lost runs.
  expect(DEAD_AFTER_MS + HEARTBEAT_MS + POLL_EVERY_MS).toBeLessThan(LIMIT_MS / 2);
});
