import type { Deployment, Environment, Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Reading } from '../language/read.ts';
import { channelWarnings, inOrder, type ToolServerReport, toolWarnings } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';

/** What a deployment is made of, once it is clear which variables it has. */
export type Installation = {
  botId: string;
  environment: Environment;
  source: string;
  /** Of `source`. */
  reading: Reading;
  message?: string | null | undefined;
  variables: EnvironmentVariables;
  /** Of the servers of tools that the source names. */
  reports: ToolServerReport[];
  rolledBackToId?: string;
};

/** Stores a deployment, and where its source is without errors makes it the one that runs. */
export type Install = (
  tx: Prisma.TransactionClient,
  installation: Installation,
) => Promise<Deployment>;

export function createInstall({ cipher }: { cipher: EnvironmentCipher }): Install {
  return async (tx, { variables, reading, reports, ...request }) => {
    const { botId, environment } = request;
    const id = makeId('dep');
    const { definition, places } = reading;
    const diagnostics = reading.diagnose(Object.keys(variables));
    const attempt = { ...request, id, deployedAt: new Date() };
    if (definition === null) {
      return tx.deployment.create({ data: { ...attempt, status: 'FAILED', diagnostics } });
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
