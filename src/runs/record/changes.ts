import { latest } from '../../coordination/latest.ts';
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
   * Yields the id of each of the bot's runs that changes, until the signal aborts. The subscriber reads the run itself.
   * Several changes of one run while the subscriber is busy yield its id once.
   */
  follow(botId: string, signal: AbortSignal): AsyncIterable<string>;
};

export function createChanges({ pubsub }: { pubsub: PubSub }): Changes {
  return {
    notify({ id, botId }, { isNew = false } = {}) {
      if (!isNew) pubsub.publish(runChannel(id), '');
      pubsub.publish(channelOf(botId), id);
    },
    follow: (botId, signal) => latest(pubsub, channelOf(botId), signal),
  };
}

function channelOf(botId: string): string {
  return `runs:${botId}`;
}
