import type { ChannelConnections, ConnectingDeployment } from '../../deployments/channels.ts';
import { channelClaimed } from '../../deployments/diagnostics.ts';
import type { ChannelState, Prisma } from '../../generated/prisma/client.ts';
import { databaseTime } from '../../storage/moment.ts';
import { applyToDeployment, RELEASED, REPLACED } from '../states.ts';
import { blockedRemark } from './blocked-chats.ts';

const CHANNEL = 'TELEGRAM';

/** The other bot or environment that a Telegram bot belongs to, if any. Locks the Telegram bot until the commit. */
export async function findClaim(
  tx: Prisma.TransactionClient,
  externalId: string,
  { botId, environment }: ConnectingDeployment,
): Promise<ChannelState | null> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`telegram ${externalId}`}, 0))`;
  return tx.channelState.findFirst({
    where: { channel: CHANNEL, externalId, leaving: false, NOT: { botId, environment } },
  });
}

/** Releases the claims of deployments that would still remove the webhook of a Telegram bot. */
export async function takeOver(
  tx: Prisma.TransactionClient,
  externalId: string,
  deploymentId: string,
): Promise<void> {
  await tx.channelState.updateMany({
    where: { channel: CHANNEL, externalId, leaving: true, deploymentId: { not: deploymentId } },
    data: RELEASED,
  });
}

/** Whether an error may name a bot to the holder of a key. */
async function isVisible(
  tx: Prisma.TransactionClient,
  botId: string,
  keyId: string | null | undefined,
) {
  if (keyId == null) return false;
  const [bot, key] = await Promise.all([
    tx.bot.findUnique({ where: { id: botId }, select: { accountId: true } }),
    tx.apiKey.findUnique({ where: { id: keyId } }),
  ]);
  if (!bot || !key || bot.accountId !== key.accountId) return false;
  return !key.restricted || key.botIds.includes(botId);
}

export const claimTelegram: ChannelConnections['claim'] = async (
  tx,
  deployment,
  reports,
  keyId,
) => {
  const externalId = reports.find(({ channel }) => channel === CHANNEL)?.bot?.id;
  const other = externalId === undefined ? null : await findClaim(tx, externalId, deployment);
  if (other === null) return [];
  const { botId, environment } = other;
  const mayName = botId === deployment.botId || (await isVisible(tx, botId, keyId));
  const name = `the bot "${botId}" in ${environment.toLowerCase()}`;
  return [channelClaimed(CHANNEL, mayName ? name : 'another bot')];
};

/** How long no other process begins the first attempt to connect, which the deploying process makes at once. */
const FIRST_ATTEMPT_MS = 15_000;

export const replaceTelegram: ChannelConnections['replace'] = async (tx, deployment, reports) => {
  const { id: deploymentId, botId, environment } = deployment;
  const report = reports.find(({ channel }) => channel === CHANNEL);
  const externalId = report?.bot?.id;
  const now = await databaseTime(tx);
  const earlier = await tx.channelState.findMany({
    where: {
      channel: CHANNEL,
      botId,
      environment,
      deploymentId: { not: deploymentId },
      status: { in: ['PENDING', 'CONNECTED'] },
    },
  });
  for (const state of earlier) {
    const leaving = state.externalId !== null && state.externalId !== externalId;
    await tx.channelState.update({
      where: { deploymentId_channel: { deploymentId: state.deploymentId, channel: CHANNEL } },
      data: {
        ...RELEASED,
        ...(leaving && { leaving, externalId: state.externalId }),
        status: 'UNAVAILABLE',
        problem: REPLACED,
        attempts: 0,
        availableAt: new Date(now),
      },
    });
    if (state.status === 'PENDING') {
      const outcome = { channel: CHANNEL, problem: REPLACED } as const;
      await applyToDeployment(tx, state.deploymentId, outcome);
    }
  }
  if (!report) return;
  if (externalId !== undefined) await takeOver(tx, externalId, deploymentId);
  const { problem, bot } = report;
  const remark = externalId === undefined ? null : await blockedRemark(tx, externalId);
  await tx.channelState.create({
    data: {
      deploymentId,
      channel: CHANNEL,
      botId,
      environment,
      status: problem === undefined ? 'PENDING' : 'UNAVAILABLE',
      problem: problem ?? remark,
      externalId,
      externalName: bot?.name,
      createdAt: new Date(now),
      availableAt: new Date(now + FIRST_ATTEMPT_MS),
    },
  });
};
