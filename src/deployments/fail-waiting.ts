import { recordChanges } from '../accounts/audit.ts';
import { type Deployment, Prisma } from '../generated/prisma/client.ts';
import { databaseTime } from '../storage/moment.ts';
import type { ConnectingDeployment } from './channels.ts';
import {
  type DeploymentDiagnostic,
  gateError,
  inOrder,
  listed,
  readDiagnostics,
} from './diagnostics.ts';

/** Fails a deployment that waits for its gate. */
export async function failWaiting(
  tx: Prisma.TransactionClient,
  { id, botId, keyId, diagnostics }: Deployment,
  errors: readonly DeploymentDiagnostic[],
): Promise<void> {
  const all = inOrder([...readDiagnostics(diagnostics), ...listed([...errors])]);
  const { bot } = await tx.deployment.update({
    where: { id },
    data: {
      status: 'FAILED',
      gate: Prisma.DbNull,
      envVars: null,
      envNames: [],
      deployedAt: new Date(await databaseTime(tx)),
      diagnostics: all,
    },
    select: { bot: { select: { accountId: true } } },
  });
  const actor = { accountId: bot.accountId, keyId };
  await recordChanges(tx, actor, { action: 'DEPLOY_FAILED', targetId: id, botId });
}

/** Fails the deployments of an environment that wait for their gate, because a newer deployment replaces them. */
export async function supersede(
  tx: Prisma.TransactionClient,
  { botId, environment }: ConnectingDeployment,
  version: number,
): Promise<void> {
  const error = gateError(
    'superseded',
    `the deployment #${version} replaced this one, which waited for its gate`,
  );
  const waiting = await tx.deployment.findMany({
    where: { botId, environment, status: 'PENDING', gate: { not: Prisma.DbNull } },
  });
  for (const one of waiting) await failWaiting(tx, one, [error]);
}
