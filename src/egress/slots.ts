import { createSemaphore } from '../async/semaphore.ts';
import { EgressError } from './error.ts';

/** Concurrent exchanges of one account and of the process. */
export type EgressLimits = { account: number; process: number };

export const EGRESS_LIMITS: EgressLimits = { account: 256, process: 2_048 };

/** Limits concurrent exchanges. */
export type EgressSlots = {
  /** @returns a function that releases the slot; further calls do nothing. @throws EgressError `too-many-requests` */
  acquire(accountId: string): () => void;
};

export function createEgressSlots(limits: EgressLimits): EgressSlots {
  const { tryAcquire } = createSemaphore();
  return {
    acquire(accountId) {
      const ofAccount = tryAcquire(`account ${accountId}`, limits.account);
      const ofProcess = ofAccount && tryAcquire('process', limits.process);
      if (ofProcess)
        return () => {
          ofAccount();
          ofProcess();
        };
      ofAccount?.();
      throw new EgressError('too-many-requests');
    },
  };
}
