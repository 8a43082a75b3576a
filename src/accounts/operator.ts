import { type ApiKey, KeyScope, type PrismaClient } from '../generated/prisma/client.ts';
import { databaseTime } from '../storage/moment.ts';
import { makeId } from '../text/ids.ts';
import { recordChanges } from './audit.ts';
import { lockAccount, makeRoom } from './key-lineage.ts';
import { newApiKey } from './new-key.ts';

/** The time limit of a reset, in milliseconds. It waits for changes to the keys of operators' accounts. */
const RESET_MS = 30_000;

/** The row of a new operator's account. */
export function newOperatorAccount() {
  return {
    id: makeId('acc'),
    name: 'Operator',
    plan: 'ENTERPRISE' as const,
    requestsPerMinute: 6_000,
    requestsPerDay: 1_000_000,
  };
}

/** The row of a new operator key: it has all scopes, may use every bot, and never expires. */
export function newOperatorKey(accountId: string, secret: string) {
  return newApiKey(accountId, secret, { name: 'Operator', scopes: Object.values(KeyScope) });
}

/** The new key, and the keys that it replaces. */
export type OperatorReset = { apiKey: ApiKey; revoked: Pick<ApiKey, 'id' | 'name'>[] };

/**
 * Creates an operator key, and revokes all other keys with the scope `OPERATOR`, of every account, in one transaction.
 * The new key belongs to the first account with such a key that is not suspended, or to a new account if there is none.
 *
 * No process is notified. Each one reads a key again after `REMEMBER_MS`, and the keys of open streams every half second,
 * so that a running server refuses the revoked keys within a second.
 *
 * @param secret the new key's secret.
 */
export function resetOperatorKeys(prisma: PrismaClient, secret: string): Promise<OperatorReset> {
  return prisma.$transaction(
    async (tx) => {
      const accounts = await tx.$queryRaw<{ id: string; isSuspended: boolean }[]>`
        SELECT id, suspended_at IS NOT NULL AS "isSuspended" FROM accounts
        WHERE id IN (SELECT account_id FROM api_keys WHERE 'OPERATOR' = ANY (scopes))
        ORDER BY id`;
      for (const { id } of accounts) await lockAccount(tx, id);
      const known = accounts.find(({ isSuspended }) => !isSuspended)?.id;
      const accountId =
        known ?? (await tx.account.create({ data: newOperatorAccount(), select: { id: true } })).id;
      const revoked = await tx.apiKey.updateManyAndReturn({
        where: { scopes: { has: 'OPERATOR' }, revokedAt: null },
        data: { revokedAt: new Date(await databaseTime(tx)) },
        select: { id: true, name: true, accountId: true },
      });
      await makeRoom(tx, accountId);
      const apiKey = await tx.apiKey.create({ data: newOperatorKey(accountId, secret) });
      for (const [owner, keys] of Map.groupBy(revoked, (key) => key.accountId)) {
        const changes = keys.map(({ id }) => ({ action: 'REVOKE_API_KEY', targetId: id }) as const);
        await recordChanges(tx, { accountId: owner, keyId: null }, ...changes);
      }
      const created = { action: 'CREATE_API_KEY', targetId: apiKey.id } as const;
      await recordChanges(tx, { accountId, keyId: null }, created);
      return { apiKey, revoked: revoked.map(({ id, name }) => ({ id, name })) };
    },
    { timeout: RESET_MS },
  );
}
