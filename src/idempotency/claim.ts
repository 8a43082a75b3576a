import { isOwnerless } from '../coordination/worker-lease.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../text/ids.ts';
import { KEPT_FOR, keyOf, type Repeatable } from './key.ts';

/** A request's exclusive claim on an idempotency key, until its run begins or for at most 90 seconds. */
export type Claim = Repeatable & {
  /** `clm_…` */
  id: string;
};

/**
 * How long a claim lasts without a run, as a PostgreSQL interval. Longer than a request waits for its turn. A claim may
 * outlive its request, because a delayed statement may claim the key after the response was sent.
 */
const CLAIMED_FOR = '90 seconds';

/**
 * SQL that is true if the key of an `idempotency_records AS record` is free: the record has expired, its run has failed,
 * or its claim was abandoned or has timed out before a run began.
 */
export const IS_FREE = `(
  record.expires_at < now()
  OR (SELECT count(*) FROM runs WHERE runs.id = record.run_id AND runs.status = 'FAILED') = 1
  OR (record.deployment_id IS NULL
    AND (SELECT count(*) FROM runs WHERE runs.id = record.run_id) = 0
    AND (record.created_at < now() - interval '${CLAIMED_FOR}' OR ${isOwnerless('record.owner_id')})))`;

/** Makes a claim. It holds nothing until a statement with `claimKeys` has stored it. */
export function newClaim(request: Repeatable): Claim {
  return { ...request, id: makeId('clm') };
}

/** A request for a key: a row of `CLAIM_COLUMNS`. `key` is the id of the run that answers for the key once it exists. */
export type ClaimRow = {
  claimId: string;
  claimAccountId: string;
  namespace: string;
  formerNamespace: string | null;
  idempotencyKey: string;
  fingerprint: string;
};

export const CLAIM_COLUMNS =
  '"claimId" text, "claimAccountId" text, namespace text, "formerNamespace" text, "idempotencyKey" text, fingerprint text';

export function claimRow(claim: Claim): ClaimRow {
  return {
    claimId: claim.id,
    claimAccountId: claim.accountId,
    namespace: claim.namespace,
    formerNamespace: claim.formerNamespace ?? null,
    idempotencyKey: claim.key,
    fingerprint: claim.fingerprint,
  };
}

/** SQL that is true if a request's key has a record in the namespace of an earlier version. */
const IS_TAKEN_FORMERLY = `("formerNamespace" IS NOT NULL AND EXISTS (
    SELECT 1 FROM idempotency_records AS former
    WHERE former.account_id = "claimAccountId" AND former.namespace = "formerNamespace"
      AND former.key = "idempotencyKey" AND former.expires_at >= now()))`;

/**
 * SQL that claims unused and expired keys. Returns the ids of the claims that hold their key. Locks the records in a
 * fixed order, to avoid deadlocks. If several rows request one key, the oldest claim gets it. A repeat after
 * a lost response returns the same.
 *
 * @param requests a table with `CLAIM_COLUMNS`, the `key` of the run, and the `ownerId` of this process. Rows without
 *   a claim request no key.
 */
export const claimKeys = (requests: string) => `
  INSERT INTO idempotency_records AS record
    (account_id, namespace, key, fingerprint, owner_id, claim_id, run_id, expires_at)
  SELECT DISTINCT ON ("claimAccountId", namespace, "idempotencyKey")
    "claimAccountId", namespace, "idempotencyKey", fingerprint, "ownerId", "claimId", key,
    now() + interval '${KEPT_FOR}'
  FROM ${requests} WHERE "claimId" IS NOT NULL AND NOT ${IS_TAKEN_FORMERLY}
  ORDER BY "claimAccountId", namespace, "idempotencyKey", "claimId"
  ON CONFLICT (account_id, namespace, key) DO UPDATE
  SET fingerprint = excluded.fingerprint, owner_id = excluded.owner_id, claim_id = excluded.claim_id,
    run_id = excluded.run_id, deployment_id = NULL, created_at = now(), expires_at = excluded.expires_at
  WHERE record.expires_at < now() OR record.claim_id = excluded.claim_id
  RETURNING claim_id`;

/** Releases a key, if the claim still holds it. Safe to repeat: a new claim of the key has another id. */
export function releaseClaim(prisma: PrismaClient, claim: Claim) {
  return prisma.idempotencyRecord.deleteMany({ where: { ...keyOf(claim), claimId: claim.id } });
}
