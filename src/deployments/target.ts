import { GatewayError, notFound } from '../errors/errors.ts';
import type { Deployment, Prisma } from '../generated/prisma/client.ts';
import type { RedeployRequest } from './request.ts';

/**
 * The deployment that a request rolls back to.
 *
 * @throws GatewayError `deployment_not_found`, or `deployment_not_deployable` for a failed deployment.
 */
export async function findDeployable(
  tx: Prisma.TransactionClient,
  { botId, deploymentId }: RedeployRequest,
): Promise<Deployment> {
  const target = await tx.deployment.findUnique({ where: { id: deploymentId, botId } });
  if (target === null) throw notFound('deployment', deploymentId);
  if (target.status !== 'FAILED') return target;
  throw new GatewayError(
    'deployment_not_deployable',
    `The deployment "${deploymentId}" failed and cannot be activated.`,
  );
}

/**
 * The deployment that a request promotes.
 *
 * @throws GatewayError as `findDeployable`, and `deployment_not_deployable` for a deployment outside staging.
 */
export async function findStaging(
  tx: Prisma.TransactionClient,
  request: RedeployRequest,
): Promise<Deployment> {
  const target = await findDeployable(tx, request);
  if (target.environment === 'STAGING') return target;
  throw new GatewayError(
    'deployment_not_deployable',
    `The deployment "${request.deploymentId}" is not a staging deployment.`,
  );
}
