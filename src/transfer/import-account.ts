import type { EnvironmentCipher } from '../deployments/environment.ts';
import { StartupError } from '../errors/errors.ts';
import { isDuplicate } from '../errors/outage.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { reencrypted } from './encrypted-variables.ts';
import type { AccountFile, ExportedRow } from './file.ts';
import { MOVED_TABLES, type MovedTable } from './tables.ts';
import { assertMovable, lastMigration, TRANSFER_MS, type TransferCounts } from './transfer.ts';

/** The rows of one statement: the limit that is reached first counts. */
const BATCH = { rows: 500, characters: 4 * 1024 * 1024 };

type Ciphers = {
  /** Encrypts variables for this installation. */
  own: EnvironmentCipher;
  /** Decrypts the variables of the file. */
  ofFile: EnvironmentCipher;
};

type Batch = { table: MovedTable; rows: string[] };

/** The id of a row, and its references to rows of its own table. */
type Links = { [column: string]: string | null };

/**
 * Inserts the rows of an exported account, in one transaction. The account stays suspended.
 *
 * @throws StartupError if the file is not whole, or is of another version of Parley, if the account or rows of it exist,
 * or if it could not be exported. Nothing is then stored.
 */
export async function importAccount(
  prisma: PrismaClient,
  { header, rows }: AccountFile,
  ciphers: Ciphers,
): Promise<TransferCounts> {
  const transfer = async (tx: Prisma.TransactionClient) => {
    await assertImportable(tx, header, ciphers);
    const counts: TransferCounts = {};
    const links = new Map<MovedTable, Links[]>();
    for await (const batch of batchesOf(rows)) {
      const { table } = batch;
      counts[table.name] = (counts[table.name] ?? 0) + batch.rows.length;
      const found = await insert(tx, batch, ciphers);
      if (found.length > 0) links.set(table, (links.get(table) ?? []).concat(found));
    }
    for (const [table, found] of links) await setLinks(tx, table, found);
    await assertOfAccount(tx, header.account, counts);
    await assertMovable(tx, header.account);
    return counts;
  };
  try {
    return await prisma.$transaction(transfer, { timeout: TRANSFER_MS });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = 'Rows of the account exist in this installation, so nothing was imported.';
    throw new StartupError(message, { cause: error });
  }
}

async function assertImportable(
  tx: Prisma.TransactionClient,
  { account, migration, key }: AccountFile['header'],
  { ofFile }: Ciphers,
): Promise<void> {
  if (key !== Buffer.from(ofFile.keyId).toString('hex'))
    throw new StartupError('The key file belongs to another export.');
  const own = await lastMigration(tx);
  if (migration !== own)
    throw new StartupError(
      `The file has the tables of ${migration}, and this database has the tables of ${own}. Run the same version of Parley at both places.`,
    );
  if (await tx.account.findUnique({ where: { id: account } }))
    throw new StartupError(`The account "${account}" exists in this installation.`);
}

/** Joins successive rows of a table. @throws StartupError for an unknown table. */
async function* batchesOf(rows: AsyncIterable<ExportedRow>): AsyncGenerator<Batch> {
  let batch: Batch | undefined;
  let characters = 0;
  for await (const { table: name, row } of rows) {
    const isFull = batch && (batch.rows.length >= BATCH.rows || characters >= BATCH.characters);
    if (batch && (isFull || batch.table.name !== name)) {
      yield batch;
      batch = undefined;
    }
    if (batch === undefined) {
      const table = MOVED_TABLES.find((known) => known.name === name);
      if (!table) throw new StartupError(`The file has rows of an unknown table, ${name}.`);
      batch = { table, rows: [] };
      characters = 0;
    }
    batch.rows.push(row);
    characters += row.length;
  }
  if (batch) yield batch;
}

/** @returns the references among the rows, which are not stored yet. */
async function insert(
  tx: Prisma.TransactionClient,
  { table: { name, links }, rows }: Batch,
  { own, ofFile }: Ciphers,
): Promise<Links[]> {
  if (name === 'bots') await assertNewBots(tx, rows);
  const found: Links[] = [];
  const inserted = !links
    ? rows
    : rows.map((text) => {
        const row = JSON.parse(text);
        found.push({ id: row.id, ...Object.fromEntries(links.map((link) => [link, row[link]])) });
        const unlinked = { ...row, ...Object.fromEntries(links.map((link) => [link, null])) };
        return JSON.stringify(
          name === 'deployments' ? reencrypted(unlinked, ofFile, own) : unlinked,
        );
      });
  await tx.$executeRawUnsafe(
    `INSERT INTO "${name}" SELECT * FROM jsonb_populate_recordset(NULL::"${name}", $1::jsonb)`,
    `[${inserted.join()}]`,
  );
  return found;
}

/** @throws StartupError that names the bots whose ids are taken, also by bots that were deleted. */
async function assertNewBots(tx: Prisma.TransactionClient, rows: string[]): Promise<void> {
  const ids = rows.map((row): string => JSON.parse(row).id);
  const where = { id: { in: ids } };
  const [bots, deleted] = [
    await tx.bot.findMany({ where, select: { id: true } }),
    await tx.deletedBot.findMany({ where, select: { id: true } }),
  ];
  const taken = [...bots, ...deleted].map(({ id }) => `"${id}"`);
  if (taken.length === 0) return;
  const named = new Intl.ListFormat('en').format(taken);
  throw new StartupError(
    `This installation has or had bots with the ids of the account: ${named}. Ids are never used again, so nothing was imported.`,
  );
}

async function setLinks(
  tx: Prisma.TransactionClient,
  { name, links = [] }: MovedTable,
  rows: readonly Links[],
): Promise<void> {
  const columns = links.map((link) => `"${link}" = linked."${link}"`).join();
  const types = ['id', ...links].map((column) => `"${column}" text`).join();
  await tx.$executeRawUnsafe(
    `UPDATE "${name}" SET ${columns} FROM jsonb_to_recordset($1::jsonb) AS linked(${types})
      WHERE "${name}".id = linked.id`,
    JSON.stringify(rows),
  );
}

/** @throws StartupError if a row of the file belongs to another account. */
async function assertOfAccount(
  tx: Prisma.TransactionClient,
  account: string,
  counts: TransferCounts,
): Promise<void> {
  for (const { name, rows } of MOVED_TABLES) {
    const [found] = await tx.$queryRawUnsafe<{ count: bigint }[]>(
      `SELECT count(*) AS count FROM "${name}" WHERE ${rows}`,
      account,
    );
    if (Number(found?.count) !== (counts[name] ?? 0))
      throw new StartupError(
        `Rows of the table ${name} belong to another account than "${account}". Nothing was imported.`,
      );
  }
}
