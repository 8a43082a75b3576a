import { type Deployment, Prisma } from '../generated/prisma/client.ts';
import { IS_FREE } from './claim.ts';
import { assertSame, KEPT_FOR, keyOf, type Repeatable } from './key.ts';

/** The deployment that a request gets: a new one, or the deployment that the same request created before. */
export type AnsweringDeployment = Deployment & { isReplayed: boolean };

/** A key's record. All times are the database's: the clocks of the processes may differ. */
type Found = { fingerprint: string; deploymentId: string | null; isFree: boolean };

async function find(
  tx: Prisma.TransactionClient,
  { accountId, namespace, key }: Repeatable,
): Promise<Found | undefined> {
  const [found] = await tx.$queryRaw<Found[]>`
    SELECT fingerprint, deployment_id AS "deploymentId", ${Prisma.raw(IS_FREE)} AS "isFree"
    FROM idempotency_records AS record
    WHERE account_id = ${accountId} AND namespace = ${namespace} AND key = ${key}`;
  return found;
}

/** @throws GatewayError `idempotency_conflict` */
async function answerOf(
  tx: Prisma.TransactionClient,
  request: Repeatable,
  record: Found | undefined,
): Promise<AnsweringDeployment | undefined> {
  if (!record) return undefined;
  assertSame(request, record);
  const id = record.deploymentId ?? '';
  const deployment = await tx.deployment.findUnique({ where: { id } });
  return deployment ? { ...deployment, isReplayed: true } : undefined;
}

/** The deployment that an earlier request with the same key created, if any. @throws GatewayError `idempotency_conflict` */
export async function earlierAnswer(
  tx: Prisma.TransactionClient,
  request: Repeatable,
): Promise<AnsweringDeployment | undefined> {
  const record = await find(tx, request);
  return record?.isFree ? undefined : answerOf(tx, request, record);
}

/**
 * Claims the key of a request in the transaction that deploys. A concurrent repeat waits for that transaction.
 *
 * @returns as `earlierAnswer`. If `undefined`, the transaction must store the deployment with `recordDeployment`.
 */
export async function claimKey(
  tx: Prisma.TransactionClient,
  request: Repeatable,
): Promise<AnsweringDeployment | undefined> {
  const { accountId, namespace, key, fingerprint } = request;
  const isFirst = await tx.$executeRaw`
    INSERT INTO idempotency_records AS record (account_id, namespace, key, fingerprint, expires_at)
    VALUES (${accountId}, ${namespace}, ${key}, ${fingerprint}, now() + ${KEPT_FOR}::interval)
    ON CONFLICT (account_id, namespace, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, owner_id = NULL, claim_id = NULL, run_id = NULL,
        deployment_id = NULL, created_at = now(), expires_at = excluded.expires_at
    WHERE ${Prisma.raw(IS_FREE)}`;
  return isFirst ? undefined : answerOf(tx, request, await find(tx, request));
}

/** Stores the deployment that the request with a claimed key created. */
export async function recordDeployment(
  tx: Prisma.TransactionClient,
  request: Repeatable,
  deploymentId: string,
): Promise<void> {
  await tx.idempotencyRecord.update({
    where: { accountId_namespace_key: keyOf(request) },
    data: { deploymentId },
  });
}
