import { botVersionName } from '../bots/bots.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import type { AnsweringDeployment } from '../idempotency/deployments.ts';
import type { DeploymentChanges } from './changes.ts';
import type { ChannelConnections } from './channels.ts';
import type { Deployments } from './deployments.ts';

/**
 * Delays each deploy's result until every replica uses the new deployment and its channels had 1 second to connect, and
 * notifies subscribers. Source: the API document, "Deploy".
 */
export function announceDeploys(
  deployments: Deployments,
  versions: Versions,
  changes: Pick<DeploymentChanges, 'notify'>,
  connections: Pick<ChannelConnections, 'connect'>,
): Deployments {
  const announced = async (done: Promise<AnsweringDeployment>) => {
    const deployment = await done;
    const { id, status, isReplayed } = deployment;
    // Also for a replayed deploy: the process that made it may have died before this step.
    if (status !== 'FAILED') await versions.renew(botVersionName(deployment.botId));
    if (!isReplayed) changes.notify(deployment);
    if (status !== 'PENDING' || isReplayed) return deployment;
    await connections.connect(id);
    return { ...deployment, ...(await deployments.find(id)) };
  };
  return {
    ...deployments,
    deploy: (request) => announced(deployments.deploy(request)),
    rollback: (request) => announced(deployments.rollback(request)),
    promote: (request) => announced(deployments.promote(request)),
  };
}
