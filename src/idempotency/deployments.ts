import type { Deployment, Prisma } from '../generated/prisma/client.ts';
import { assertSame, KEPT_FOR, keyOf, type Repeatable } from './key.ts';

/** The deployment that a request gets: a new one, or the deployment that the same request created before. */
export type AnsweringDeployment = Deployment & { isReplayed: boolean };

/** The deployment that an earlier request with the same key created, if any. @throws GatewayError `idempotency_conflict` */
export async function earlierAnswer(
  tx: Prisma.TransactionClient,
  request: Repeatable,
): Promise<AnsweringDeployment | undefined> {
  const record = await tx.idempotencyRecord.findUnique({
    where: { accountId_namespace_key: keyOf(request), expiresAt: { gt: new Date() } },
  });
  if (record === null) return undefined;
  assertSame(request, record);
  const id = record.deploymentId ?? '';
  const deployment = await tx.deployment.findUnique({ where: { id } });
  return deployment ? { ...deployment, isReplayed: true } : undefined;
}

/**
 * Deploys once for each idempotency key. The record and the deployment are stored in one transaction. A concurrent
 * repeat waits for that transaction.
 *
 * @param tx a transaction.
 */
export async function answerOnce(
  tx: Prisma.TransactionClient,
  request: Repeatable | undefined,
  deploy: () => Promise<Deployment>,
): Promise<AnsweringDeployment> {
  if (!request) return { ...(await deploy()), isReplayed: false };
  const { accountId, namespace, key, fingerprint } = request;
  const isFirst = await tx.$executeRaw`
    INSERT INTO idempotency_records AS record (account_id, namespace, key, fingerprint, expires_at)
    VALUES (${accountId}, ${namespace}, ${key}, ${fingerprint}, now() + ${KEPT_FOR}::interval)
    ON CONFLICT (account_id, namespace, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, owner_id = NULL, claim_id = NULL, run_id = NULL,
        deployment_id = NULL, created_at = now(), expires_at = excluded.expires_at
    WHERE record.expires_at < now()`;
  const earlier = isFirst ? undefined : await earlierAnswer(tx, request);
  if (earlier) return earlier;
  const deployment = await deploy();
  await tx.idempotencyRecord.update({
    where: { accountId_namespace_key: keyOf(request) },
    data: { deploymentId: deployment.id },
  });
  return { ...deployment, isReplayed: false };
}
