import { latest } from '../coordination/latest.ts';
import type { PubSub } from '../coordination/pubsub.ts';

/** Notifications of changed deployments, by bot. */
export type DeploymentChanges = {
  /** Notifies subscribers of a new or changed deployment. */
  notify(deployment: { id: string; botId: string }): void;
  /** Yields the ids of a bot's changed deployments until the signal aborts. */
  follow(botId: string, signal: AbortSignal): AsyncIterable<string>;
};

export function createDeploymentChanges({ pubsub }: { pubsub: PubSub }): DeploymentChanges {
  const channelOf = (botId: string) => `deployments:${botId}`;
  return {
    notify: ({ id, botId }) => pubsub.publish(channelOf(botId), id),
    follow: (botId, signal) => latest(pubsub, channelOf(botId), signal),
  };
}
