import type { Log } from '../observability/log.ts';
import { pollOnNotify } from './poll-on-notify.ts';
import type { PubSub } from './pubsub.ts';

type Options = {
  pubsub: PubSub;
  /** The channel whose notifications cause a poll. */
  channel: string;
  /** The interval between two polls without a notification, which may be lost; null if looks wake the worker. */
  everyMs: number | null;
  log: Log;
  /** The log message of a failed poll. The next poll repeats it. */
  problem: string;
  /** The work that polls have begun. The disposal waits for it. */
  active?: ReadonlyMap<unknown, Promise<unknown>>;
};

/**
 * Polls at once, at each notification and at the intervals, if any, until it is disposed of.
 *
 * @param poll gets a signal that aborts with the disposal.
 */
export function startPollingWorker(
  poll: (signal: AbortSignal) => Promise<unknown>,
  { pubsub, channel, everyMs, log, problem, active }: Options,
): AsyncDisposable {
  const closed = new AbortController();
  const { signal } = closed;
  const watch = async () => {
    for await (const _ of pollOnNotify(pubsub, channel, signal, { everyMs }))
      await poll(signal).catch((err) => {
        if (!signal.aborted) log.error({ err }, problem);
      });
  };
  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      closed.abort();
      await watching;
      await Promise.all(active?.values() ?? []);
    },
  };
}
