import type { Deployment, Environment, Prisma } from '../generated/prisma/client.ts';
import type { ParsedSource } from '../language/read.ts';
import { databaseTime } from '../storage/moment.ts';
import { type ChannelConnections, type ChannelReport, unconfirmed } from './channels.ts';
import type { DeploymentDiagnostic, ToolServerReport } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** The data of a new deployment. */
export type Installation = {
  /** The id of the new deployment, `dep_…`. */
  id: string;
  botId: string;
  environment: Environment;
  source: string;
  /** The parsed `source`. */
  parsed: ParsedSource;
  message?: string | null | undefined;
  variables: EnvironmentVariables;
  /** Errors that prevent the activation of a valid source. */
  refusals?: DeploymentDiagnostic[];
  /** Reports of the source's tool servers. */
  reports: ToolServerReport[];
  /** Reports of the services of the source's channels, and the variables with which they were asked. */
  channelReports: ChannelReport[];
  asked: EnvironmentVariables;
  rolledBackToId?: string;
  /** The key that deploys, if any. */
  keyId?: string | null | undefined;
  /** The names of the variables whose values came with the request. */
  sentEnvNames?: string[];
};

/** Stores a deployment, and activates it if it has no errors. The transaction holds the lock on the bot. */
export type Install = (
  tx: Prisma.TransactionClient,
  installation: Installation,
) => Promise<Deployment>;

export function createInstall({
  cipher,
  connections,
}: {
  cipher: EnvironmentCipher;
  connections: ChannelConnections;
}): Install {
  return async (tx, installation) => {
    const { variables, refusals = [], parsed, reports, ...more } = installation;
    const { asked, keyId, channelReports: answered, ...request } = more;
    const { id, botId, environment } = request;
    const { definition } = parsed;
    const createdAt = new Date(await databaseTime(tx));
    const attempt = { ...request, ...(await placeOf(tx, request)), keyId, createdAt };
    const fail = ({ diagnostics }: Verdict) =>
      tx.deployment.create({
        data: { ...attempt, deployedAt: createdAt, status: 'FAILED', diagnostics },
      });
    const isCurrent =
      answered.length === 0 || cipher.fingerprint(asked) === cipher.fingerprint(variables);
    const channelReports = isCurrent ? answered : unconfirmed(answered);
    const judged = { parsed, variables, reports, channelReports };
    const verdict = verdictOn({ ...judged, refusals });
    if (definition === null || !verdict.isDeployable) return fail(verdict);
    const claimed = await connections.claim(tx, request, channelReports, keyId);
    if (claimed.length > 0) return fail(verdictOn({ ...judged, refusals: claimed }));
    const isPending = channelReports.some(({ problem }) => problem === undefined);
    const deployment = await tx.deployment.create({
      data: {
        ...attempt,
        deployedAt: isPending ? null : createdAt,
        status: isPending ? 'PENDING' : 'DEPLOYED',
        diagnostics: verdict.diagnostics,
        channels: definition.channels.some(({ type }) => type === 'web') ? ['WEB'] : [],
        envNames: Object.keys(variables).sort(),
        envVars: cipher.encrypt(id, variables),
      },
    });
    await connections.replace(tx, request, channelReports);
    await tx.activeDeployment.upsert({
      where: { botId_environment: { botId, environment } },
      create: { botId, environment, deploymentId: id },
      update: { deploymentId: id, version: { increment: 1 } },
    });
    return deployment;
  };
}

/** The version of the bot's next deployment, and the deployment that is active before it. */
async function placeOf(
  tx: Prisma.TransactionClient,
  { botId, environment }: Pick<Installation, 'botId' | 'environment'>,
): Promise<{ version: number; previousId: string | undefined }> {
  const { _max: last } = await tx.deployment.aggregate({
    where: { botId },
    _max: { version: true },
  });
  const active = await tx.activeDeployment.findUnique({
    where: { botId_environment: { botId, environment } },
    select: { deploymentId: true },
  });
  return { version: (last.version ?? 0) + 1, previousId: active?.deploymentId };
}
