import { StartupError } from '../errors.ts';
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
  if (!row?.name) throw new StartupError('The database has no tables. Start the server once.');
  return row.name;
}
