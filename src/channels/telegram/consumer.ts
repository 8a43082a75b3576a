import { startDeadline, untilAborted } from '../../async/deadline.ts';
import { startPeriodic } from '../../async/periodic.ts';
import { pollOnNotify } from '../../coordination/poll-on-notify.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import type { Log } from '../../observability/log.ts';
import type { HandleUpdate } from './handle.ts';
import { INBOX_CHANNEL, type Inbox, type TakenUpdate } from './inbox.ts';
import type { TelegramUse } from './use.ts';

/** The most updates that one process handles at a time. Most of them wait for a model. */
const SLOTS = 50;
/** How long handled updates may take to send the ends of their replies at the shutdown. */
const SEND_LIMIT_MS = 3_000;
const SWEEP_EVERY_MS = 3_600_000;

/** Handles the updates of the inbox. */
export type TelegramConsumer = AsyncDisposable & {
  /** Takes no more updates. Those in progress continue until the disposal. */
  stop(): Promise<void>;
};

export function startConsumer({
  inbox,
  use,
  handle,
  pubsub,
  log,
}: {
  inbox: Inbox;
  use: TelegramUse;
  handle: HandleUpdate;
  pubsub: PubSub;
  log: Log;
}): TelegramConsumer {
  const stopped = new AbortController();
  const aborted = new AbortController();
  const active = new Map<TakenUpdate, Promise<void>>();

  /** A Telegram bot holds at most as many slots as are free, so that the next bot finds one. */
  const fullBots = () => {
    const free = SLOTS - active.size;
    const byBot = Map.groupBy(active.keys(), ({ telegramBotId }) => telegramBotId);
    return [...byBot].flatMap(([id, updates]) => (updates.length < free ? [] : [id]));
  };

  /** @returns whether it took an update. */
  const takeNext = async (): Promise<boolean> => {
    const update = (await use.isUsed()) && (await inbox.take(fullBots()));
    if (!update) return false;
    const handled = handle(update, aborted.signal).finally(() => {
      active.delete(update);
      // This frees a slot, and the lane of the update.
      pubsub.publish(INBOX_CHANNEL, '');
    });
    active.set(update, handled);
    return true;
  };

  const watch = async () => {
    for await (const _ of pollOnNotify(pubsub, INBOX_CHANNEL, stopped.signal)) {
      try {
        while (active.size < SLOTS && !stopped.signal.aborted && (await takeNext()));
      } catch (err) {
        log.error({ err }, 'The Telegram updates could not be read. They will be retried.');
      }
    }
  };
  const watching = watch();
  const sweeping = startPeriodic(inbox.sweep, {
    everyMs: SWEEP_EVERY_MS,
    log,
    what: 'The sweep of Telegram updates',
  });
  const stop = async () => {
    stopped.abort();
    await watching;
  };

  return {
    stop,
    async [Symbol.asyncDispose]() {
      await Promise.all([stop(), sweeping[Symbol.asyncDispose]()]);
      using deadline = startDeadline(SEND_LIMIT_MS);
      const handled = Promise.all(active.values());
      await untilAborted(handled, deadline.signal).catch(() => aborted.abort());
      await Promise.all(active.values());
    },
  };
}
