import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../accounts/caller.ts';
import { createSemaphore } from '../../async/semaphore.ts';
import { POINT_BYTES } from '../../schema/admission/weight.ts';
import { PLANS } from '../../vocabulary/plans.ts';

/** Accounts whose use of the last second is remembered. */
const MAX_ACCOUNTS = 10_000;

/**
 * What the events of an account's subscriptions may read in this process: as many points of work a second as its plan
 * allows. A subscription counts as one request when it starts, so only this bounds the work of its events. An event
 * beyond the allowance waits. Events wait in the order of their arrival, and a subscription has at most one that waits,
 * so that all subscriptions of an account advance.
 */
export type EventAllowance = {
  /**
   * Waits until the account may read again, then counts the points of an event.
   *
   * @param signal ends the wait.
   * @throws the signal's reason if it is aborted.
   */
  take(caller: Caller, points: number, signal: AbortSignal): Promise<void>;
  /** Counts the size of an event once it is known. Later events wait for it. */
  spend(caller: Caller, bytes: number): void;
};

/**
 * @param now milliseconds.
 * @param wait waits for some milliseconds; rejects if the signal is aborted.
 */
export function createEventAllowance({
  now = () => performance.now(),
  wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }),
}: {
  now?: (() => number) | undefined;
  wait?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
} = {}): EventAllowance {
  const { acquire } = createSemaphore();
  /** The points left at a time. Negative after a large event. */
  const accounts = new LRUCache<string, { left: number; at: number }>({ max: MAX_ACCOUNTS });

  const stateOf = ({ account: { id, plan } }: Caller) => {
    const perSecond = PLANS[plan].eventPoints;
    const at = now();
    const known = accounts.get(id) ?? { left: perSecond, at };
    const refilled = known.left + ((at - known.at) / 1_000) * perSecond;
    const state = { left: Math.min(refilled, perSecond), at };
    accounts.set(id, state);
    return { state, perSecond };
  };

  return {
    async take(caller, points, signal) {
      using _turn = await acquire(caller.account.id, 1, signal);
      for (;;) {
        signal.throwIfAborted();
        const { state, perSecond } = stateOf(caller);
        if (state.left > 0) {
          state.left -= points;
          return;
        }
        await wait(Math.ceil((-state.left / perSecond) * 1_000) + 1, signal);
      }
    },

    spend(caller, bytes) {
      stateOf(caller).state.left -= bytes / POINT_BYTES;
    },
  };
}
