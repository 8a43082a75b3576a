import type { Channel, Deployment, Prisma } from '../generated/prisma/client.ts';
import type { Definition } from '../language/definition.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** The answer of a channel's outside service about a deployment's settings. */
export type ChannelReport = {
  channel: Channel;
  /** Why the channel cannot be connected, a sentence. Undefined: it may be connected. */
  problem?: string | undefined;
  /** The service's bot, if the service has confirmed it. */
  bot?: { id: string; name: string } | undefined;
};

/** A deployment whose channels connect. */
export type ConnectingDeployment = Pick<Deployment, 'id' | 'botId' | 'environment'>;

/** Connects the channels of deployments to outside services. The domain of channels implements it. */
export type ChannelConnections = {
  /** Asks the services about a definition, outside any transaction. Takes at most 1 second, and does not reject. */
  check(definition: Definition, variables: EnvironmentVariables): Promise<ChannelReport[]>;
  /**
   * Claims the services' bots for a deployment. A bot of the service belongs to one bot and environment.
   *
   * @param keyId the key that deploys, to which an error may name the other bot.
   * @returns errors that prevent the activation.
   */
  claim(
    tx: Prisma.TransactionClient,
    deployment: ConnectingDeployment,
    reports: ChannelReport[],
    keyId: string | null | undefined,
  ): Promise<DeploymentDiagnostic[]>;
  /** Stores the channels of a new active deployment, and releases the channels of the environment's earlier deployments. */
  replace(
    tx: Prisma.TransactionClient,
    deployment: ConnectingDeployment,
    reports: ChannelReport[],
  ): Promise<void>;
  /** Makes the first attempt to connect a deployment's channels, and waits at most 1 second for it. Does not reject. */
  connect(deploymentId: string): Promise<void>;
};

/** The reports without what the services said, for settings that have changed since. */
export function unconfirmed(reports: ChannelReport[]): ChannelReport[] {
  return reports.map(({ channel }) => ({ channel }));
}
