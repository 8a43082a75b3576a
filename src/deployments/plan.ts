import type { Deployment, Environment, Prisma } from '../generated/prisma/client.ts';
import { newDestinations, type VariableUse } from './destinations.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import {
  assertWithinLimits,
  type EnvironmentCipher,
  type EnvironmentVariables,
} from './environment.ts';
import type { DeployCheckRequest, DeployTarget } from './request.ts';
import { findTarget } from './target.ts';

/** The variables of an environment's active deployment, with the changes of a request. */
export type VariableChanges = {
  /** The variables of the active deployment. */
  before: EnvironmentVariables;
  variables: EnvironmentVariables;
  /** Errors that prevent the activation. */
  refusals: DeploymentDiagnostic[];
};

/** What a deploy stores. A plan is valid while `previousId` is the active deployment. */
export type Plan = Pick<VariableChanges, 'variables' | 'refusals'> & {
  environment: Environment;
  source: string;
  /** The id of the active deployment, if any. */
  previousId: string | undefined;
  rolledBackToId?: string;
  /** The names of the variables whose values came with the request. */
  sentEnvNames?: string[];
};

/** Plans deploys: their source, their variables, and where the variables may be sent. */
export function createPlan({ cipher }: { cipher: EnvironmentCipher }) {
  const variablesOf = ({ id, envVars }: Pick<Deployment, 'id' | 'envVars'>) =>
    envVars === null ? {} : cipher.decrypt(id, envVars);

  const findActiveId = async (
    tx: Prisma.TransactionClient,
    botId: string,
    environment: Environment,
  ): Promise<string | undefined> => {
    const where = { botId_environment: { botId, environment } };
    const active = await tx.activeDeployment.findUnique({ where, select: { deploymentId: true } });
    return active?.deploymentId;
  };

  const useOf = async (
    tx: Prisma.TransactionClient,
    id: string | undefined,
  ): Promise<VariableUse> => {
    const select = { id: true, source: true, envVars: true };
    const deployment =
      id === undefined ? null : await tx.deployment.findUnique({ where: { id }, select });
    if (deployment === null) return { source: '', variables: {} };
    return { source: deployment.source, variables: variablesOf(deployment) };
  };

  const changesTo = async (
    tx: Prisma.TransactionClient,
    activeId: string | undefined,
    { source, envVars, unsetEnvVars }: DeployCheckRequest,
  ): Promise<VariableChanges> => {
    const before = await useOf(tx, activeId);
    const variables = { ...before.variables, ...envVars };
    for (const name of unsetEnvVars) delete variables[name];
    assertWithinLimits(variables);
    const sent = new Set(Object.keys(envVars));
    const refusals = newDestinations({ source, variables }, before, sent);
    return { before: before.variables, variables, refusals };
  };

  return {
    /** @throws GatewayError `invalid_request` if the variables exceed their limits in number or size. */
    async changeVariables(
      tx: Prisma.TransactionClient,
      request: DeployCheckRequest,
    ): Promise<VariableChanges> {
      return changesTo(tx, await findActiveId(tx, request.botId, request.environment), request);
    },

    /**
     * @param earlier a plan of the same request, reused while the same deployment is active.
     * @throws GatewayError as `changeVariables` and `findTarget`.
     */
    async plan(tx: Prisma.TransactionClient, request: DeployTarget, earlier?: Plan): Promise<Plan> {
      const target = request.action === 'DEPLOY' ? request : await findTarget(tx, request);
      const environment = request.action === 'PROMOTE' ? 'PRODUCTION' : target.environment;
      const { source } = target;
      const previousId = await findActiveId(tx, request.botId, environment);
      if (earlier && earlier.previousId === previousId) return earlier;
      const planned = { environment, source, previousId };
      if (!('id' in target)) {
        const { variables, refusals } = await changesTo(tx, previousId, target);
        const sentEnvNames = Object.keys(target.envVars).sort();
        return { ...planned, variables, refusals, sentEnvNames };
      }
      if (request.action === 'PROMOTE') {
        const { variables } = await useOf(tx, previousId);
        return { ...planned, variables, refusals: [] };
      }
      const variables = variablesOf(target);
      return { ...planned, variables, refusals: [], rolledBackToId: target.id };
    },
  };
}
