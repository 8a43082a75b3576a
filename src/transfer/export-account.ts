import type { EnvironmentCipher } from '../deployments/environment.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { reencrypted } from './encrypted-variables.ts';
import { type AccountFileWriter, type ExportedRow, FORMAT } from './file.ts';
import { MOVED_TABLES, type MovedTable } from './tables.ts';
import { assertMovable, lastMigration, TRANSFER_MS, type TransferCounts } from './transfer.ts';

/** Rows in memory at a time. A run has at most a few MiB. */
const FETCHED = 25;

/**
 * Writes all rows of a suspended account, as of one moment, with the variables of its deployments encrypted for the file.
 *
 * @param own decrypts the stored variables.
 * @param forFile encrypts them under the key of the file.
 * @throws StartupError if the account is unknown, is not suspended, is being deleted, has active runs, or has a key with
 * the scope `OPERATOR`.
 */
export function exportAccount(
  prisma: PrismaClient,
  account: string,
  { own, forFile }: { own: EnvironmentCipher; forFile: EnvironmentCipher },
  writer: AccountFileWriter,
): Promise<TransferCounts> {
  const forTransfer = ({ table, row }: ExportedRow) => ({
    table,
    row: JSON.stringify(reencrypted(JSON.parse(row), own, forFile)),
  });
  return prisma.$transaction(
    async (tx) => {
      await assertMovable(tx, account);
      const key = Buffer.from(forFile.keyId).toString('hex');
      await writer.begin({ format: FORMAT, account, migration: await lastMigration(tx), key });
      const counts: TransferCounts = {};
      for (const table of MOVED_TABLES)
        for await (const rows of rowsOf(tx, table, account)) {
          counts[table.name] = (counts[table.name] ?? 0) + rows.length;
          await writer.write(table.name === 'deployments' ? rows.map(forTransfer) : rows);
        }
      await writer.finish();
      return counts;
    },
    { timeout: TRANSFER_MS, isolationLevel: 'RepeatableRead' },
  );
}

/** Reads the rows of a table in parts. */
async function* rowsOf(
  tx: Prisma.TransactionClient,
  { name, rows, reset = {} }: MovedTable,
  account: string,
): AsyncGenerator<ExportedRow[]> {
  await tx.$executeRawUnsafe(
    `DECLARE moved_rows NO SCROLL CURSOR FOR
      SELECT (to_jsonb(moved) || '${JSON.stringify(reset)}')::text AS row
      FROM (SELECT * FROM "${name}" WHERE ${rows}) AS moved`,
    account,
  );
  for (;;) {
    const fetched = await tx.$queryRaw<{ row: string }[]>(
      Prisma.sql`FETCH ${Prisma.raw(String(FETCHED))} FROM moved_rows`,
    );
    if (fetched.length > 0) yield fetched.map(({ row }) => ({ table: name, row }));
    if (fetched.length < FETCHED) break;
  }
  await tx.$executeRaw`CLOSE moved_rows`;
}
