import { createNotices, type Notice } from '../../coordination/notices.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import { runChannel } from './run-channel.ts';

/**
 * Notifies subscribers of a run and of its bot that the run was queued, started or finished.
 *
 * @param options `isNew` skips the run's own channel: no client knows the id of a new run.
 */
export type NotifyOfRun = (
  run: { id: string; botId: string },
  options?: { isNew?: boolean },
) => void;

export type Changes = {
  notify: NotifyOfRun;
  /**
   * Yields a notice with the id of each of the bot's runs that changes, until the signal aborts. The subscribers read the
   * run themselves. Several changes of one run while the subscriber is busy yield one notice.
   */
  follow(botId: string, signal: AbortSignal): AsyncIterable<Notice>;
};

export function createChanges({ pubsub }: { pubsub: PubSub }): Changes {
  const follow = createNotices(pubsub);
  return {
    notify({ id, botId }, { isNew = false } = {}) {
      if (!isNew) pubsub.publish(runChannel(id), '');
      pubsub.publish(channelOf(botId), id);
    },
    follow: (botId, signal) => follow(channelOf(botId), signal),
  };
}

function channelOf(botId: string): string {
  return `runs:${botId}`;
}
