import { StartupError } from '../errors/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** The time limit of an export or import. A large account takes hours. */
export const TRANSFER_MS = 24 * 60 * 60 * 1_000;

/** How many rows of each table were moved. */
export type TransferCounts = Record<string, number>;

/** The name of the last applied migration. */
export async function lastMigration(tx: Prisma.TransactionClient): Promise<string> {
  const [row] = await tx.$queryRaw<{ name: string }[]>`
    SELECT max(migration_name) AS name FROM _prisma_migrations
    WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`;
  if (!row) throw new Error('The database returned no migration.');
  return row.name;
}

/**
 * Checks an account before its export, and again when its rows are imported: a file may come from another operator.
 *
 * @throws StartupError if the account is unknown, is not suspended, is being deleted, has active runs, or has a key with
 * the scope `OPERATOR`.
 */
export async function assertMovable(tx: Prisma.TransactionClient, id: string): Promise<void> {
  const account = await tx.account.findUnique({ where: { id } });
  if (account === null) throw new StartupError(`There is no account "${id}".`);
  if (account.deletedAt) throw new StartupError(`The account "${id}" is being deleted.`);
  if (!account.suspendedAt)
    throw new StartupError(
      `The account "${id}" is not suspended, so what it does meanwhile would be lost. Suspend it with the mutation suspendAccount, or in the console under Settings, Accounts.`,
    );
  if (
    await tx.apiKey.count({
      where: { accountId: id, scopes: { has: 'OPERATOR' }, revokedAt: null },
    })
  )
    throw new StartupError(
      `The account "${id}" has a key with the scope OPERATOR, which must not enter another installation. Revoke the key first.`,
    );
  const active = await tx.run.count({
    where: { bot: { accountId: id }, status: { in: ['QUEUED', 'RUNNING'] } },
  });
  if (active > 0)
    throw new StartupError(
      `${active} runs of the account "${id}" are active. Wait until they end, or cancel them.`,
    );
}
