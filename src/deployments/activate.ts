import type { Channel, DeploymentStatus, Prisma } from '../generated/prisma/client.ts';
import type { Definition } from '../language/definition.ts';
import type { ChannelConnections, ChannelReport, ConnectingDeployment } from './channels.ts';

/** The columns of a deployment that becomes active. It is pending while an outside service may connect a channel. */
export function activeState(definition: Definition, reports: ChannelReport[], at: Date) {
  const isPending = reports.some(({ problem }) => problem === undefined);
  const status: DeploymentStatus = isPending ? 'PENDING' : 'DEPLOYED';
  const channels: Channel[] = definition.channels.some(({ type }) => type === 'web') ? ['WEB'] : [];
  return { status, deployedAt: isPending ? null : at, channels };
}

/** Makes a stored deployment the active one of its environment. The transaction holds the lock on the bot. */
export async function activate(
  tx: Prisma.TransactionClient,
  connections: Pick<ChannelConnections, 'replace'>,
  place: ConnectingDeployment,
  reports: ChannelReport[],
): Promise<void> {
  const { id, botId, environment } = place;
  await connections.replace(tx, place, reports);
  await tx.activeDeployment.upsert({
    where: { botId_environment: { botId, environment } },
    create: { botId, environment, deploymentId: id },
    update: { deploymentId: id, version: { increment: 1 } },
  });
}
