import { botVersionName } from '../bots/bots.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import { type Deployment, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { databaseTime } from '../storage/moment.ts';
import { activate, activeState } from './activate.ts';
import type { DeploymentChanges } from './changes.ts';
import type { ChannelConnections, ChannelReport } from './channels.ts';
import { type DeploymentDiagnostic, gateError } from './diagnostics.ts';
import type { EnvironmentCipher } from './environment.ts';
import { failWaiting } from './fail-waiting.ts';
import { waitsForGate } from './gate.ts';
import type { ReadSource } from './read-source.ts';

/**
 * Ends the wait of a deployment for its gate: it becomes active, or it fails with the errors. What was active before stays
 * active until then. No effect on a deployment that no longer waits.
 */
export type SettleGate = (id: string, errors: readonly DeploymentDiagnostic[]) => Promise<void>;

const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };
const INVALID = gateError(
  'gate-failed',
  'the definition is not valid in this version of Parley: deploy a valid definition',
);

export function createSettleGate({
  prisma,
  cipher,
  read,
  connections,
  versions,
  changes,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  read: ReadSource;
  connections: ChannelConnections;
  versions: Pick<Versions, 'renew'>;
  changes: Pick<DeploymentChanges, 'notify'>;
}): SettleGate {
  const pass = async (
    tx: Prisma.TransactionClient,
    { id, botId, environment, keyId }: Deployment,
    parsed: Awaited<ReturnType<ReadSource>>,
    reports: ChannelReport[],
  ): Promise<DeploymentDiagnostic[]> => {
    const { definition } = parsed;
    if (!definition) return [INVALID];
    const place = { id, botId, environment };
    const claimed = await connections.claim(tx, place, reports, keyId);
    if (claimed.length > 0) return claimed;
    const where = { botId_environment: { botId, environment } };
    const active = await tx.activeDeployment.findUnique({ where });
    const at = new Date(await databaseTime(tx));
    await tx.deployment.update({
      where: { id },
      data: {
        ...activeState(definition, reports, at),
        gate: Prisma.DbNull,
        previousId: active?.deploymentId ?? null,
      },
    });
    await activate(tx, connections, place, reports);
    return [];
  };

  return async (id, errors) => {
    const waiting = await prisma.deployment.findUnique({ where: { id } });
    if (!waiting || !waitsForGate(waiting)) return;
    const { botId, source, envVars } = waiting;
    // Outside the transaction, as a deploy does it.
    const parsed = await read(source, { isDeployed: true });
    const { definition } = parsed;
    const hasServices = definition?.channels.some(({ type }) => type !== 'web');
    const reports =
      errors.length === 0 && definition && hasServices
        ? await connections.check(definition, envVars ? cipher.decrypt(id, envVars) : {})
        : [];
    const isSettled = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM bots WHERE id = ${botId} FOR NO KEY UPDATE`;
      const stored = await tx.deployment.findUnique({ where: { id } });
      if (!stored || !waitsForGate(stored)) return false;
      const problems = errors.length > 0 ? errors : await pass(tx, stored, parsed, reports);
      if (problems.length > 0) await failWaiting(tx, stored, problems);
      return true;
    }, TRANSACTION);
    if (!isSettled) return;
    await versions.renew(botVersionName(botId));
    changes.notify({ id, botId });
    await connections.connect(id);
  };
}
