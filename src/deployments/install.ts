import type { Deployment, Prisma } from '../generated/prisma/client.ts';
import type { ParsedSource } from '../language/read.ts';
import { databaseTime } from '../storage/moment.ts';
import { type ChannelConnections, type ChannelReport, unconfirmed } from './channels.ts';
import type { ToolServerReport } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import type { Plan } from './plan.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** The data of a new deployment. */
export type Installation = {
  /** The id of the new deployment, `dep_…`. */
  id: string;
  botId: string;
  message: string | null | undefined;
  /** The key that deploys, if any. */
  keyId: string | null | undefined;
  plan: Plan;
  /** The parsed source of the plan. */
  parsed: ParsedSource;
  /** Reports of the source's tool servers. */
  reports: ToolServerReport[];
  /** Reports of the services of the source's channels, and the variables with which they were asked. */
  channelReports: ChannelReport[];
  asked: EnvironmentVariables;
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
  return async (tx, { id, botId, message, keyId, plan, parsed, reports, asked, ...answers }) => {
    const { environment, source, variables, refusals, previousId } = plan;
    const { rolledBackToId, sentEnvNames } = plan;
    const place = { id, botId, environment };
    const { definition } = parsed;
    const createdAt = new Date(await databaseTime(tx));
    const version = await nextVersion(tx, botId);
    const origin = { message, keyId, sentEnvNames, rolledBackToId, previousId };
    const attempt = { ...place, source, version, createdAt, ...origin };
    const fail = ({ diagnostics }: Verdict) =>
      tx.deployment.create({
        data: { ...attempt, deployedAt: createdAt, status: 'FAILED', diagnostics },
      });
    const isCurrent =
      answers.channelReports.length === 0 ||
      cipher.fingerprint(asked) === cipher.fingerprint(variables);
    const channelReports = isCurrent ? answers.channelReports : unconfirmed(answers.channelReports);
    const judged = { parsed, variables, reports, channelReports };
    const verdict = verdictOn({ ...judged, refusals });
    if (definition === null || !verdict.isDeployable) return fail(verdict);
    const claimed = await connections.claim(tx, place, channelReports, keyId);
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
    await connections.replace(tx, place, channelReports);
    await tx.activeDeployment.upsert({
      where: { botId_environment: { botId, environment } },
      create: { botId, environment, deploymentId: id },
      update: { deploymentId: id, version: { increment: 1 } },
    });
    return deployment;
  };
}

/** The version of the bot's next deployment. */
async function nextVersion(tx: Prisma.TransactionClient, botId: string): Promise<number> {
  const { _max: last } = await tx.deployment.aggregate({
    where: { botId },
    _max: { version: true },
  });
  return (last.version ?? 0) + 1;
}
