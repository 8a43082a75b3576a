import { botVersionName } from '../bots/bots.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import type { AnsweringDeployment } from '../idempotency/deployments.ts';
import type { DeploymentChanges } from './changes.ts';
import type { Deployments } from './deployments.ts';

/**
 * Delays each deploy's result until every replica uses the new deployment, and notifies subscribers. Source: the API
 * document, "Deploy".
 */
export function announceDeploys(
  deployments: Deployments,
  versions: Versions,
  changes: Pick<DeploymentChanges, 'notify'>,
): Deployments {
  const announced = async (done: Promise<AnsweringDeployment>) => {
    const deployment = await done;
    const { status, isReplayed } = deployment;
    // Also for a replayed deploy: the process that made it may have died before this step.
    if (status === 'DEPLOYED') await versions.renew(botVersionName(deployment.botId));
    if (!isReplayed) changes.notify(deployment);
    return deployment;
  };
  return {
    ...deployments,
    deploy: (request) => announced(deployments.deploy(request)),
    rollback: (request) => announced(deployments.rollback(request)),
    promote: (request) => announced(deployments.promote(request)),
  };
}
