import { createHash } from 'node:crypto';
import { GatewayError } from '../errors/errors.ts';
import type { Environment, PrismaClient } from '../generated/prisma/client.ts';
import { createRedactor } from '../redaction/redact.ts';
import type { RunningDeployment } from './active.ts';
import { inOrder } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { createPlan } from './plan.ts';
import type { ReadSource } from './read-source.ts';

/** A definition that is not deployed. */
export type Draft = {
  /** In agentlang 5. */
  source: string;
  /** Merged over the variables of the environment's active deployment. */
  envVars: EnvironmentVariables;
};

/** Prepares definitions that run once, without a deployment. */
export type Drafts = {
  /**
   * Reads a draft and decides its variables by the rules of a deploy: a variable of the active deployment is sent only to
   * destinations that already receive it. Stores nothing and contacts no server.
   *
   * @throws GatewayError `definition_invalid` with the diagnostics, or `invalid_request` if the variables exceed their
   *   limits.
   */
  prepare(botId: string, environment: Environment, draft: Draft): Promise<RunningDeployment>;
};

export function createDrafts({
  prisma,
  cipher,
  read,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  read: ReadSource;
}): Drafts {
  const { changeVariables } = createPlan({ cipher });
  return {
    async prepare(botId, environment, { source, envVars }) {
      const request = { botId, environment, source, envVars, unsetEnvVars: [] };
      const { variables, refusals } = await changeVariables(prisma, request);
      const { definition, diagnose } = await read(source);
      if (definition === null || refusals.length > 0) {
        const diagnostics = inOrder([...diagnose(Object.keys(variables)), ...refusals]);
        const errors = diagnostics.filter(({ severity }) => severity === 'ERROR').length;
        const message = `The definition has ${errors} ${errors === 1 ? 'error' : 'errors'}, see extensions.diagnostics.`;
        throw new GatewayError('definition_invalid', message, { diagnostics });
      }
      const { accountId } = await prisma.bot.findUniqueOrThrow({
        where: { id: botId },
        select: { accountId: true },
      });
      // The same draft keeps its sessions with tool servers.
      const input = JSON.stringify([botId, environment, source, cipher.fingerprint(variables)]);
      const deploymentId = `draft ${createHash('sha256').update(input).digest('hex')}`;
      const redactor = createRedactor(variables);
      return { deploymentId, isDraft: true, accountId, definition, variables, redactor };
    },
  };
}
