import { CONCURRENCY_LIMITS, createConcurrencyLimit } from '../accounts/concurrency-limit.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError } from '../errors.ts';
import type { OnDisconnect, Plan } from '../generated/prisma/client.ts';
import { createEventLog, type EventLog, type RunEvent } from './events.ts';
import { READ_CHANNEL, runChannel } from './run-channel.ts';

/** A run at work in this process. */
export type LiveRun = Pick<EventLog, 'read'> & {
  id: string;
  botId: string;
  /** Whether another process may begin it again: then its readers are to get only what is stored. */
  isRepeatable: boolean;
  /** Stops the work; what was said until then is stored. */
  stop(): void;
  /** Settles when the work is over. */
  ended: Promise<void>;
};

/** Why runs are stopped that nobody wished to stop: their process is on its way out, or has lost them. */
export const NO_MORE_TIME = new DOMException('The process has no more time.', 'AbortError');

/** Why nothing begins or goes on in a process that is on its way out. */
export function stopping(): GatewayError {
  return new GatewayError('internal_error', 'The server is stopping. Send the request again.');
}

/** How a run is started. */
export type StartOptions = {
  id: string;
  botId: string;
  /** What becomes of it when its last reader leaves, here or elsewhere; by default it stops. */
  onDisconnect?: OnDisconnect | undefined;
  /** What happened in earlier attempts, of a run that may be begun again. */
  earlier?: readonly RunEvent[] | undefined;
};

/** The place of a run among those at work, taken before the run begins. */
export type Admission = {
  /** Aborted when the run is to stop: its last reader has left, or the process has no more time. */
  signal: AbortSignal;
  /**
   * Starts the work of the run, which goes on by itself and gives the place back at its end.
   *
   * @param work appends the run's events and never rejects.
   */
  start(
    options: StartOptions,
    work: (log: EventLog, signal: AbortSignal) => Promise<void>,
  ): LiveRun;
  /** Gives the place back where no run has begun. */
  leave(): void;
};

/** The runs at work in this process, those that wait for their turn included. */
export type LiveRuns = {
  /**
   * @param account against whose limit of active runs it counts; none for a background run.
   * @throws GatewayError `rate_limit_exceeded` when the account has as many active runs as its plan allows, or
   *   `internal_error` when the process is on its way out.
   */
  admit(account?: { accountId: string; plan: Plan }): Admission;
  /** A run that has begun and not ended. */
  find(id: string): LiveRun | undefined;
  /** Stops every run. */
  stopAll(): void;
  /** Stops those of a bot. */
  stopOf(botId: string): void;
  /**
   * Admits nobody any more, and waits until no run is at work; stops those that still are after `limitMs`, and
   * waits for their end.
   */
  drain(limitMs: number): Promise<void>;
};

/** How long those who read a run elsewhere have to say so, when its last reader here has left. */
const ANSWER_MS = 500;

export function createLiveRuns({ pubsub }: { pubsub: PubSub }): LiveRuns {
  /** The runs, and what releases the slot of each. */
  const live = new Map<AbortController, () => void>();
  const acquireSlot = createConcurrencyLimit(
    (max) => `This account has ${max} active runs, the limit of its plan. Try again when one ends.`,
  );
  const begun = new Map<string, LiveRun>();
  /** Those that are read elsewhere, as far as that was said lately. */
  const readElsewhere = new Set<string>();
  let draining = false;
  let onEmpty = () => {};

  const stopAll = () => {
    for (const controller of live.keys()) controller.abort(NO_MORE_TIME);
  };

  const leave = (controller: AbortController) => {
    live.get(controller)?.();
    live.delete(controller);
    if (live.size === 0) onEmpty();
  };

  pubsub.subscribe(READ_CHANNEL, (id) => {
    if (begun.has(id)) readElsewhere.add(id);
  });

  return {
    find: (id) => begun.get(id),
    stopAll,
    stopOf(botId) {
      for (const run of [...begun.values()]) if (run.botId === botId) run.stop();
    },

    admit(account) {
      if (draining) throw stopping();
      const release = account
        ? acquireSlot(account.accountId, CONCURRENCY_LIMITS[account.plan].activeRuns)
        : () => {};
      const controller = new AbortController();
      const { signal } = controller;
      live.set(controller, release);
      return {
        signal,
        leave: () => leave(controller),
        start({ id, botId, onDisconnect = 'CANCEL', earlier }, work) {
          const stop = () => controller.abort();
          let asking: NodeJS.Timeout | undefined;
          const stopUnread = () => {
            clearTimeout(asking);
            if (log.isRead()) return;
            if (!readElsewhere.delete(id)) return stop();
            // Whoever reads it looks at once, and says so again.
            pubsub.publish(runChannel(id), '');
            asking = setTimeout(stopUnread, ANSWER_MS);
          };
          const log = createEventLog(onDisconnect === 'CANCEL' ? stopUnread : () => {}, earlier);
          const ended = work(log, signal).finally(() => {
            clearTimeout(asking);
            readElsewhere.delete(id);
            begun.delete(id);
            log.end();
            leave(controller);
          });
          const run = {
            id,
            botId,
            isRepeatable: earlier !== undefined,
            read: log.read,
            stop,
            ended,
          };
          begun.set(id, run);
          return run;
        },
      };
    },

    async drain(limitMs) {
      draining = true;
      const timer = setTimeout(stopAll, limitMs);
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      if (live.size > 0) await empty;
      clearTimeout(timer);
    },
  };
}
