import type { Deployment, Environment, Prisma } from '../generated/prisma/client.ts';
import type { Reading } from '../language/read.ts';
import {
  channelWarnings,
  type DeploymentDiagnostic,
  inOrder,
  type ToolServerReport,
  toolWarnings,
} from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';

/** The data of a new deployment. */
export type Installation = {
  /** The id of the new deployment, `dep_…`. */
  id: string;
  botId: string;
  environment: Environment;
  source: string;
  /** The parsed `source`. */
  reading: Reading;
  message?: string | null | undefined;
  variables: EnvironmentVariables;
  /** Errors that prevent the activation of a valid source. */
  refusals?: DeploymentDiagnostic[];
  /** Reports of the source's tool servers. */
  reports: ToolServerReport[];
  rolledBackToId?: string;
};

/** Stores a deployment, and activates it if it has no errors. */
export type Install = (
  tx: Prisma.TransactionClient,
  installation: Installation,
) => Promise<Deployment>;

export function createInstall({ cipher }: { cipher: EnvironmentCipher }): Install {
  return async (tx, { variables, refusals = [], reading, reports, ...request }) => {
    const { id, botId, environment } = request;
    const { definition, places } = reading;
    const diagnostics = reading.diagnose(Object.keys(variables));
    const attempt = { ...request, deployedAt: new Date() };
    if (definition === null) {
      return tx.deployment.create({ data: { ...attempt, status: 'FAILED', diagnostics } });
    }
    if (refusals.length > 0) {
      const all = inOrder([...diagnostics, ...refusals]);
      return tx.deployment.create({ data: { ...attempt, status: 'FAILED', diagnostics: all } });
    }
    const deployment = await tx.deployment.create({
      data: {
        ...attempt,
        status: 'DEPLOYED',
        diagnostics: inOrder([
          ...diagnostics,
          ...channelWarnings(definition),
          ...toolWarnings(reports, places),
        ]),
        channels: definition.channels.some(({ type }) => type === 'web') ? ['WEB'] : [],
        envNames: Object.keys(variables).sort(),
        envVars: cipher.encrypt(id, variables),
      },
    });
    await tx.activeDeployment.upsert({
      where: { botId_environment: { botId, environment } },
      create: { botId, environment, deploymentId: id },
      update: { deploymentId: id, version: { increment: 1 } },
    });
    return deployment;
  };
}
