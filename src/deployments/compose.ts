import type { Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createActiveDeployments } from './active.ts';
import { announceDeploys } from './announce.ts';
import { createDeploymentChanges } from './changes.ts';
import { createDeployments } from './deployments.ts';
import type { ProbeTools } from './diagnostics.ts';
import type { EnvironmentCipher } from './environment.ts';

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  cipher: EnvironmentCipher;
  probeTools: ProbeTools;
};

export function createDeploymentsDomain({ prisma, pubsub, versions, cipher, probeTools }: Parts) {
  const deploymentChanges = createDeploymentChanges({ pubsub });
  const deployments = createDeployments({ prisma, cipher, probeTools });
  return {
    deployments: announceDeploys(deployments, versions, deploymentChanges),
    deploymentChanges,
    activeDeployments: createActiveDeployments({ prisma, cipher }),
  };
}
