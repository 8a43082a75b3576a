import { GatewayError, notFound } from '../errors/errors.ts';
import type { Deployment, Prisma } from '../generated/prisma/client.ts';
import { waitsForGate } from './gate.ts';
import type { DeployTarget } from './request.ts';

/**
 * The deployment that a request rolls back to or promotes.
 *
 * @throws GatewayError `deployment_not_found`, or `deployment_not_deployable` for a deployment that failed or waits for its
 *   gate, and for the promotion of a deployment outside staging.
 */
export async function findTarget(
  tx: Prisma.TransactionClient,
  { action, botId, deploymentId }: Exclude<DeployTarget, { action: 'DEPLOY' }>,
): Promise<Deployment> {
  const target = await tx.deployment.findUnique({ where: { id: deploymentId, botId } });
  if (target === null) throw notFound('deployment', deploymentId);
  const problem =
    target.status === 'FAILED'
      ? 'failed and cannot be activated'
      : waitsForGate(target)
        ? 'waits for its gate'
        : action === 'PROMOTE' && target.environment !== 'STAGING'
          ? 'is not a staging deployment'
          : undefined;
  if (problem === undefined) return target;
  throw new GatewayError(
    'deployment_not_deployable',
    `The deployment "${deploymentId}" ${problem}.`,
  );
}
