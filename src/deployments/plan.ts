import type { Deployment, Environment, Prisma } from '../generated/prisma/client.ts';
import { newDestinations, type VariableUse } from './destinations.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import {
  assertWithinLimits,
  type EnvironmentCipher,
  type EnvironmentVariables,
} from './environment.ts';
import type { DeployCheckRequest } from './request.ts';

/** The variables of a deploy. A plan is valid while `replaced` is the active deployment. */
export type Plan = {
  /** The id of the active deployment, if any. */
  replaced: string | undefined;
  /** The variables of the active deployment. */
  before: EnvironmentVariables;
  variables: EnvironmentVariables;
  /** Errors that prevent the activation. */
  refusals: DeploymentDiagnostic[];
};

/** Plans the variables of a deploy: the active deployment's variables, with the request's changes. */
export function createPlan({ cipher }: { cipher: EnvironmentCipher }) {
  const variablesOf = ({ id, envVars }: Pick<Deployment, 'id' | 'envVars'>) =>
    envVars === null ? {} : cipher.decrypt(id, envVars);

  const activeId = async (
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

  return {
    /** The decrypted variables of a deployment. */
    variablesOf,

    /** The variables of an environment's active deployment. */
    async variablesIn(
      tx: Prisma.TransactionClient,
      botId: string,
      environment: Environment,
    ): Promise<EnvironmentVariables> {
      return (await useOf(tx, await activeId(tx, botId, environment))).variables;
    },

    /**
     * @param earlier a plan of the same request, reused while the same deployment is active.
     * @throws GatewayError `invalid_request` if the variables exceed their limits in number or size.
     */
    async plan(
      tx: Prisma.TransactionClient,
      { botId, environment, source, envVars, unsetEnvVars }: DeployCheckRequest,
      earlier?: Plan,
    ): Promise<Plan> {
      const replaced = await activeId(tx, botId, environment);
      if (earlier && earlier.replaced === replaced) return earlier;
      const before = await useOf(tx, replaced);
      const variables = { ...before.variables, ...envVars };
      for (const name of unsetEnvVars) delete variables[name];
      assertWithinLimits(variables);
      const sent = new Set(Object.keys(envVars));
      const refusals = newDestinations({ source, variables }, before, sent);
      return { replaced, before: before.variables, variables, refusals };
    },
  };
}
