import { createNotices, type Notice } from '../coordination/notices.ts';
import type { PubSub } from '../coordination/pubsub.ts';

/** Notifications of changed deployments, by bot. */
export type DeploymentChanges = {
  /** Notifies subscribers of a new or changed deployment. */
  notify(deployment: { id: string; botId: string }): void;
  /** Yields notices with the ids of a bot's changed deployments until the signal aborts. */
  follow(botId: string, signal: AbortSignal): AsyncIterable<Notice>;
};

export function createDeploymentChanges({ pubsub }: { pubsub: PubSub }): DeploymentChanges {
  const follow = createNotices(pubsub);
  const channelOf = (botId: string) => `deployments:${botId}`;
  return {
    notify: ({ id, botId }) => pubsub.publish(channelOf(botId), id),
    follow: (botId, signal) => follow(channelOf(botId), signal),
  };
}
