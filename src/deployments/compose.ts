import type { Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { ActiveDeployments } from './active.ts';
import { announceDeploys } from './announce.ts';
import { createDeploymentChanges } from './changes.ts';
import type { ChannelConnections } from './channels.ts';
import { createDeployments } from './deployments.ts';
import type { ProbeTools } from './diagnostics.ts';
import { createDrafts } from './drafts.ts';
import type { EnvironmentCipher } from './environment.ts';
import { createReadSource } from './read-source.ts';

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  cipher: EnvironmentCipher;
  activeDeployments: ActiveDeployments;
  probeTools: ProbeTools;
  connections: ChannelConnections;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
};

export function createDeploymentsDomain({
  prisma,
  pubsub,
  versions,
  cipher,
  activeDeployments,
  probeTools,
  connections,
  allowedHosts,
}: Parts) {
  const deploymentChanges = createDeploymentChanges({ pubsub });
  const read = createReadSource({ allowedHosts });
  const deployments = createDeployments({ prisma, cipher, probeTools, connections, read });
  return {
    deployments: announceDeploys(deployments, versions, deploymentChanges, connections),
    deploymentChanges,
    drafts: createDrafts({ prisma, cipher, read }),
    activeDeployments,
  };
}
