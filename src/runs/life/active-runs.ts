import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import { startDeadline } from '../../async/deadline.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { OnDisconnect, Plan } from '../../generated/prisma/client.ts';
import { PLANS } from '../../vocabulary/plans.ts';
import { createEventLog, type EventLog, type RunEvent } from '../record/events.ts';
import { READ_CHANNEL, runChannel } from '../record/run-channel.ts';

/** A run that this process executes. */
export type ActiveRun = Pick<EventLog, 'read'> & {
  id: string;
  botId: string;
  /** The lease of the session's turn that the run holds. */
  leaseId: string | undefined;
  /** Whether another process may retry the run. Its readers must then get only stored events. */
  isRepeatable: boolean;
  /** Cancels the run. Its partial response is stored. */
  cancel(): void;
  /** Resolves when the work is finished. */
  ended: Promise<void>;
};

/** The abort reason of runs that no client cancelled: their process shuts down or has lost its lease. */
export const NO_MORE_TIME = new DOMException(
  'The process is shutting down or has lost its lease.',
  'AbortError',
);

/** The error for requests that arrive or wait during shutdown. */
export function stopping(): GatewayError {
  return new GatewayError('internal_error', 'The server is stopping. Send the request again.');
}

export type StartOptions = {
  id: string;
  botId: string;
  /** The time of an event that is emitted, in milliseconds since 1970. */
  now: () => number;
  /** The lease of the session's turn that the run holds. */
  leaseId?: string | undefined;
  /** What happens when the last reader on any replica leaves. Default: `CANCEL`. */
  onDisconnect?: OnDisconnect | undefined;
  /** The events of earlier attempts; set for every run that may be retried. */
  earlier?: readonly RunEvent[] | undefined;
};

/** A slot among the active runs, acquired before the run starts. */
export type Slot = {
  /** Aborts when the run is cancelled, or with `NO_MORE_TIME`. */
  signal: AbortSignal;
  /**
   * Starts the work in the background and releases the slot when it is finished.
   *
   * @param work appends the run's events. It must not reject.
   */
  start(
    options: StartOptions,
    work: (log: EventLog, signal: AbortSignal) => Promise<void>,
  ): ActiveRun;
  /** Releases the slot if no run was started. */
  release(): void;
};

/** The active runs of this process, including runs that wait for their session's turn. */
export type ActiveRuns = {
  /**
   * Acquires a slot.
   *
   * @param account whose limit of active runs applies; `undefined` for a background run.
   * @throws GatewayError `rate_limit_exceeded` if the account is at its plan's limit, or `internal_error` during
   *   shutdown.
   */
  acquireSlot(account?: { accountId: string; plan: Plan }): Slot;
  /** Finds a run that has started and not finished. */
  find(id: string): ActiveRun | undefined;
  /** Whether no run is active. */
  isIdle(): boolean;
  /** Calls the listener when a run starts while no other one is active. @returns a function that removes it. */
  onBusy(listener: () => void): () => void;
  /** Whether an active run holds a session's turn under this lease. */
  holds(leaseId: string): boolean;
  /** Aborts every run with `NO_MORE_TIME`. */
  abortAll(): void;
  /** Cancels all runs of a bot. */
  cancelOf(botId: string): void;
  /**
   * Rejects new runs and waits until no run is active. After `limitMs`, aborts the remaining runs and waits for them to
   * finish.
   */
  drain(limitMs: number): Promise<void>;
};

/** After the last local reader has left, how long readers on other replicas have to announce themselves. */
const ANNOUNCE_MS = 500;

export function createActiveRuns({ pubsub }: { pubsub: PubSub }): ActiveRuns {
  /** The release function of each slot. */
  const slots = new Map<AbortController, () => void>();
  const concurrencyLimit = createConcurrencyLimit(
    (max) => `This account has ${max} active runs, the limit of its plan. Try again when one ends.`,
  );
  const started = new Map<string, ActiveRun>();
  /** Runs with a recently announced reader on another replica. */
  const readElsewhere = new Set<string>();
  let draining = false;
  let onEmpty = () => {};
  const busyListeners = new Set<() => void>();

  const abortAll = () => {
    for (const controller of slots.keys()) controller.abort(NO_MORE_TIME);
  };

  const releaseSlot = (controller: AbortController) => {
    slots.get(controller)?.();
    slots.delete(controller);
    if (slots.size === 0) onEmpty();
  };

  pubsub.subscribe(READ_CHANNEL, (id) => {
    if (started.has(id)) readElsewhere.add(id);
  });

  return {
    find: (id) => started.get(id),
    isIdle: () => started.size === 0,
    onBusy(listener) {
      busyListeners.add(listener);
      return () => busyListeners.delete(listener);
    },
    holds: (leaseId) => started.values().some((run) => run.leaseId === leaseId),
    abortAll,
    cancelOf(botId) {
      for (const run of [...started.values()]) if (run.botId === botId) run.cancel();
    },

    acquireSlot(account) {
      if (draining) throw stopping();
      const release = account
        ? concurrencyLimit(account.accountId, PLANS[account.plan].activeRuns)
        : () => {};
      const controller = new AbortController();
      const { signal } = controller;
      slots.set(controller, release);
      return {
        signal,
        release: () => releaseSlot(controller),
        start({ id, botId, now, leaseId, onDisconnect = 'CANCEL', earlier }, work) {
          const cancel = () => controller.abort();
          let announceTimer: NodeJS.Timeout | undefined;
          const cancelUnread = () => {
            clearTimeout(announceTimer);
            if (log.isRead()) return;
            if (!readElsewhere.delete(id)) return cancel();
            // A remote reader answers this notification by announcing itself again.
            pubsub.publish(runChannel(id), '');
            // Not a deadline: it starts again after each answer, and nothing waits for it.
            announceTimer = setTimeout(cancelUnread, ANNOUNCE_MS);
          };
          const onAbandoned = onDisconnect === 'CANCEL' ? cancelUnread : () => {};
          const log = createEventLog(now, onAbandoned, earlier);
          const ended = work(log, signal).finally(() => {
            clearTimeout(announceTimer);
            readElsewhere.delete(id);
            started.delete(id);
            log.end();
            releaseSlot(controller);
          });
          const run = {
            id,
            botId,
            leaseId,
            isRepeatable: earlier !== undefined,
            read: log.read,
            cancel,
            ended,
          };
          started.set(id, run);
          if (started.size === 1) for (const listener of busyListeners) listener();
          return run;
        },
      };
    },

    async drain(limitMs) {
      draining = true;
      using deadline = startDeadline(limitMs);
      deadline.signal.addEventListener('abort', abortAll);
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      if (slots.size > 0) await empty;
    },
  };
}
