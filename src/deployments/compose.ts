import type { Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createDeploymentChanges, type DeploymentChanges } from './changes.ts';
import type { ChannelConnections } from './channels.ts';
import { createDeploy, type Deploy } from './deploy.ts';
import { createDeployChecks, type DeployChecks } from './deploy-check.ts';
import type { ProbeTools } from './diagnostics.ts';
import { createDrafts, type Drafts } from './drafts.ts';
import type { EnvironmentCipher } from './environment.ts';
import { EVALUATION_WORK } from './evaluation-work.ts';
import { createReadSource } from './read-source.ts';
import { createSettleGate, type SettleGate } from './settle-gate.ts';

/** The composed domain of deployments. `createActiveDeployments` comes before it: channels need it too. */
export type DeploymentsDomain = {
  deploy: Deploy;
  deployChecks: DeployChecks;
  deploymentChanges: DeploymentChanges;
  drafts: Drafts;
  settleGate: SettleGate;
};

/** @param allowedHosts `host:port` of private hosts that tools may call. */
export function createDeploymentsDomain({
  prisma,
  pubsub,
  versions,
  cipher,
  probeTools,
  connections,
  allowedHosts,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  cipher: EnvironmentCipher;
  probeTools: ProbeTools;
  connections: ChannelConnections;
  allowedHosts: string[];
}): DeploymentsDomain {
  const changes = createDeploymentChanges({ pubsub });
  const read = createReadSource({ allowedHosts });
  const parts = { prisma, cipher, read, connections, versions, changes };
  const notifyGates = () => pubsub.publish(EVALUATION_WORK, '');
  return {
    deploy: createDeploy({ ...parts, probeTools, notifyGates }),
    settleGate: createSettleGate(parts),
    deployChecks: createDeployChecks({ prisma, cipher, read }),
    deploymentChanges: changes,
    drafts: createDrafts({ prisma, cipher, read }),
  };
}
