import { latest } from '../coordination/latest.ts';
import type { PubSub } from '../coordination/pubsub.ts';

/** Words of a bot's deployments, for those who show them. */
export type DeploymentChanges = {
  /** Tells that an attempt to deploy was made or has changed. */
  tell(deployment: { id: string; botId: string }): void;
  /** The ids of a bot's deployments as they change, until the signal says that the reader has left. */
  follow(botId: string, signal: AbortSignal): AsyncIterable<string>;
};

export function createDeploymentChanges({ pubsub }: { pubsub: PubSub }): DeploymentChanges {
  const channelOf = (botId: string) => `deployments:${botId}`;
  return {
    tell: ({ id, botId }) => pubsub.publish(channelOf(botId), id),
    follow: (botId, signal) => latest(pubsub, channelOf(botId), signal),
  };
}
