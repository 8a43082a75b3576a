import type { Deployment, Prisma } from '../generated/prisma/client.ts';
import type { ParsedSource } from '../language/read.ts';
import { databaseTime } from '../storage/moment.ts';
import { activate, activeState } from './activate.ts';
import { type ChannelConnections, type ChannelReport, unconfirmed } from './channels.ts';
import type { ToolServerReport } from './diagnostics.ts';
import type { EnvironmentCipher, EnvironmentVariables } from './environment.ts';
import { supersede } from './fail-waiting.ts';
import type { Gate } from './gate.ts';
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
  /** The gate that it must pass before it becomes active. Null: it becomes active at once. */
  gate: Gate | null;
  /** The parsed source of the plan. */
  parsed: ParsedSource;
  /** Reports of the source's tool servers. */
  reports: ToolServerReport[];
  /** Reports of the services of the source's channels, and the variables with which they were asked. */
  channelReports: ChannelReport[];
  asked: EnvironmentVariables;
};

/**
 * Stores a deployment, and activates it if it has no errors and no gate. A deployment to production without errors replaces
 * the deployments that wait for a gate. The transaction holds the lock on the bot.
 */
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
  return async (
    tx,
    { id, botId, message, keyId, plan, gate, parsed, reports, asked, ...answers },
  ) => {
    const { environment, source, variables, refusals, previousId } = plan;
    const { rolledBackToId, sentEnvNames } = plan;
    const place = { id, botId, environment };
    const { definition } = parsed;
    const createdAt = new Date(await databaseTime(tx));
    const { version, hasWaiting } = await nextVersion(tx, botId);
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
    const stored = {
      ...attempt,
      diagnostics: verdict.diagnostics,
      envNames: Object.keys(variables).sort(),
      envVars: cipher.encrypt(id, variables),
    };
    if (gate) {
      if (hasWaiting) await supersede(tx, place, version);
      return tx.deployment.create({ data: { ...stored, status: 'PENDING', gate } });
    }
    const claimed = await connections.claim(tx, place, channelReports, keyId);
    if (claimed.length > 0) return fail(verdictOn({ ...judged, refusals: claimed }));
    if (hasWaiting) await supersede(tx, place, version);
    const deployment = await tx.deployment.create({
      data: { ...stored, ...activeState(definition, channelReports, createdAt) },
    });
    await activate(tx, connections, place, channelReports);
    return deployment;
  };
}

/** The version of the bot's next deployment, and whether deployments of the bot wait for their gate. */
async function nextVersion(tx: Prisma.TransactionClient, botId: string) {
  const [found] = await tx.$queryRaw<{ last: number | null; hasWaiting: boolean }[]>`
    SELECT (SELECT max(version) FROM deployments WHERE bot_id = ${botId}) AS last,
      EXISTS (SELECT 1 FROM deployments WHERE bot_id = ${botId} AND gate IS NOT NULL) AS "hasWaiting"`;
  return { version: (found?.last ?? 0) + 1, hasWaiting: found?.hasWaiting === true };
}
