import type { Prisma } from '../generated/prisma/client.ts';
import { STORED_NOW } from '../storage/moment.ts';
import type { ConnectingDeployment } from './channels.ts';
import { gateError } from './diagnostics.ts';

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
  await tx.$executeRaw`
    UPDATE deployments SET status = 'FAILED', gate = NULL, env_vars = NULL, env_names = '{}', deployed_at = ${STORED_NOW},
      diagnostics = diagnostics || ${JSON.stringify([error])}::jsonb
    WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND gate IS NOT NULL AND status = 'PENDING'`;
}
