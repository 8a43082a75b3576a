import { latest } from '../coordination/latest.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { runChannel } from './run-channel.ts';

/**
 * Tells that a run waits, has begun, or has ended: those who follow it, and those who watch its bot.
 *
 * @param options a run that `isNew` is followed by nobody yet: its id is not known to anybody.
 */
export type TellOfRun = (run: { id: string; botId: string }, options?: { isNew?: boolean }) => void;

export type Changes = {
  tell: TellOfRun;
  /**
   * The ids of a bot's runs as they change, until the signal says that the reader has left. Whoever is told reads
   * the run as it is then; of changes that come while the reader is busy, a run's last one is told.
   */
  follow(botId: string, signal: AbortSignal): AsyncIterable<string>;
};

export function createChanges({ pubsub }: { pubsub: PubSub }): Changes {
  return {
    tell({ id, botId }, { isNew = false } = {}) {
      if (!isNew) pubsub.publish(runChannel(id), '');
      pubsub.publish(channelOf(botId), id);
    },
    follow: (botId, signal) => latest(pubsub, channelOf(botId), signal),
  };
}

function channelOf(botId: string): string {
  return `runs:${botId}`;
}
