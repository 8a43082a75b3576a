import { existsSync, openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { StartupError } from '../errors/errors.ts';
import { createDataDirectory } from './data-directory.ts';
import { connect, type Database, reason } from './database.ts';
import { acquireLock } from './lock.ts';
import { applyMigrations } from './migrate.ts';
import { embeddedSql } from './sql.ts';

/**
 * PGlite writes to all its buffers when it opens. Its own 128 MB would be most of the memory of a process, and a chat
 * touches few pages.
 */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams,
  ...['-c', 'shared_buffers=32MB'],
  // An ANALYZE of the runs reads at most 9,000 of them: 50 ms, in place of 170 ms with the default of 100.
  ...['-c', 'default_statistics_target=30'],
];

/** A new database with all tables, which `build-template.ts` writes. */
export const TEMPLATE = join(import.meta.dirname, '../generated/database.tar.gz');

/**
 * Opens the embedded database in a data directory, creates it if necessary, and applies the migrations. Locks the
 * directory against other processes until `close`, and makes it unreadable to other users.
 *
 * @throws StartupError if the directory cannot be used, cannot be made private, or is in use.
 */
export async function openEmbedded(dataDirectory: string): Promise<Database> {
  const lock = await lockDirectory(dataDirectory);
  try {
    const database = await openOrCreate(dataDirectory);
    return {
      ...database,
      isExclusive: true,
      close: async () => {
        await database.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    if (error instanceof StartupError) throw error;
    throw new StartupError(
      `PARLEY_DATA_DIR: the database in ${dataDirectory} cannot be opened: ${reason(error)}. Restore it from a backup, or name another directory.`,
      { cause: error },
    );
  }
}

/** A file beside the database marks its creation, so that the next start replaces an incomplete database. */
async function openOrCreate(dataDirectory: string): Promise<Database> {
  const dataDir = join(dataDirectory, 'database');
  const unfinished = join(dataDirectory, 'unfinished');
  if (existsSync(dataDir) && !existsSync(unfinished)) return embed({ dataDir });
  await writeFile(unfinished, '');
  await rm(dataDir, { recursive: true, force: true });
  const loadDataDir = existsSync(TEMPLATE) ? await openAsBlob(TEMPLATE) : undefined;
  const database = await embed({ dataDir, ...(loadDataDir && { loadDataDir }) });
  await rm(unfinished);
  return database;
}

/** Opens PGlite and applies the migrations. Without `dataDir` the database is in memory. */
export async function embed(options: PGliteOptions): Promise<Database> {
  const pglite = await PGlite.create({ startParams: START_PARAMETERS, ...options });
  takeTurns(pglite);
  try {
    await applyMigrations(new PrismaPGlite(pglite));
    const database = connect('embedded database', new PrismaPGlite(pglite), embeddedSql(pglite));
    return {
      ...database,
      analyze: () => analyzeGrown(pglite),
      close: async () => {
        await database.close();
        await pglite.close();
      },
    };
  } catch (error) {
    await pglite.close();
    throw error;
  }
}

/**
 * Makes PGlite execute at most one statement in a turn of the event loop. PGlite works in this thread and answers without
 * input or output, so a loop over statements would keep all other work of the process waiting until its end.
 */
function takeTurns(pglite: PGlite): void {
  const runExclusive = pglite._runExclusiveQuery.bind(pglite);
  // Every statement takes this lock, also a statement of a transaction. Its result does not wait for the end of the turn.
  pglite._runExclusiveQuery = <Result>(statement: () => Promise<Result>) => {
    const result = Promise.withResolvers<Result>();
    void runExclusive(async () => {
      await statement().then(result.resolve, result.reject);
      await setImmediate();
    });
    return result.promise;
  };
}

/**
 * Updates the planner's statistics of each table that has doubled since its last update and has at least 512 KiB. PGlite
 * has no autovacuum. Without statistics, a page of an export took six times as long.
 */
async function analyzeGrown(pglite: PGlite): Promise<void> {
  const { rows } = await pglite.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND pg_relation_size(oid) >= 8192 * GREATEST(64, 2 * relpages)`);
  for (const { name } of rows) await pglite.exec(`ANALYZE "${name}"`);
}

async function lockDirectory(dataDirectory: string) {
  const lock = await createDataDirectory(dataDirectory)
    .then(() => acquireLock(join(dataDirectory, 'lock')))
    .catch((error) => {
      if (error instanceof StartupError) throw error;
      throw new StartupError(
        `PARLEY_DATA_DIR: cannot use ${dataDirectory}: ${reason(error)}. Name a directory that this user may write to.`,
        { cause: error },
      );
    });
  if (lock !== null) return lock;
  throw new StartupError(
    `PARLEY_DATA_DIR: another Parley process is using ${dataDirectory}. Stop it, or name another directory.`,
  );
}
