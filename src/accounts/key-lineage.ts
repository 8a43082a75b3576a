import { GatewayError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** How many keys an account has at most, those that have ended included. */
export const MAX_KEYS = 1_000;

/** Holds an account until the transaction ends: its keys and its bots are counted, made and revoked one after the other. */
export async function lockAccount(tx: Prisma.TransactionClient, accountId: string): Promise<void> {
  // Other rows that refer to the account are written meanwhile.
  await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/**
 * Makes room for one more key. The key that ended first is deleted where an account has as many as it may have; those
 * that it made count as made by its own maker.
 *
 * @throws GatewayError `invalid_request` where none has ended.
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

/** The ids of all keys that a key has made, directly or by keys that it has made. */
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
