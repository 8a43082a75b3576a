import { GatewayError } from '../errors/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** API keys that an account may have, including revoked and expired ones. */
export const MAX_KEYS = 1_000;

/** Locks an account until the transaction ends. It serializes the changes to the account's keys and bots. */
export async function lockAccount(tx: Prisma.TransactionClient, accountId: string): Promise<void> {
  // NO KEY UPDATE, so that other transactions can still insert rows that refer to the account.
  await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/**
 * Ensures that an account may have one more key. At the maximum, it deletes the key that was revoked or expired first.
 * The keys that the deleted key created pass to its own creator.
 *
 * @throws GatewayError `invalid_request` if all keys are still valid.
 */
export async function makeRoom(tx: Prisma.TransactionClient, accountId: string): Promise<void> {
  if ((await tx.apiKey.count({ where: { accountId } })) < MAX_KEYS) return;
  const [ended] = await tx.$queryRaw<{ id: string; created_by_id: string | null }[]>`
    SELECT id, created_by_id FROM api_keys
    WHERE account_id = ${accountId} AND (revoked_at IS NOT NULL OR expires_at <= now())
    ORDER BY LEAST(revoked_at, expires_at), id LIMIT 1`;
  if (!ended) {
    const message = `An account has at most ${MAX_KEYS.toLocaleString('en')} API keys. Revoke one first.`;
    throw new GatewayError('invalid_request', message);
  }
  const { id, created_by_id: createdById } = ended;
  await tx.apiKey.updateMany({ where: { createdById: id }, data: { createdById } });
  await tx.apiKey.delete({ where: { id } });
}

/** The ids of all keys that a key has created, directly or through other keys. */
export async function findDescendants(tx: Prisma.TransactionClient, id: string): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE made AS (
      SELECT id FROM api_keys WHERE created_by_id = ${id}
      UNION
      SELECT key.id FROM api_keys AS key JOIN made ON key.created_by_id = made.id
    )
    SELECT id FROM made`;
  return rows.map((row) => row.id);
}
