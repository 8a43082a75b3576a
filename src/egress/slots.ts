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
  const byAccount = new Map<string, number>();
  let total = 0;
  const add = (accountId: string, change: number) => {
    const count = (byAccount.get(accountId) ?? 0) + change;
    total += change;
    if (count > 0) byAccount.set(accountId, count);
    else byAccount.delete(accountId);
  };
  return {
    acquire(accountId) {
      const count = byAccount.get(accountId) ?? 0;
      if (count >= limits.account || total >= limits.process) {
        throw new EgressError('too-many-requests');
      }
      add(accountId, 1);
      let isHeld = true;
      return () => {
        if (isHeld) add(accountId, -1);
        isHeld = false;
      };
    },
  };
}
