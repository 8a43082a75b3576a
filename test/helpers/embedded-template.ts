import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { embed } from '../../src/storage/embedded.ts';
import { applyMigrations } from '../../src/storage/migrate.ts';

const MIGRATIONS = new URL('../../prisma/migrations/', import.meta.url);
const LOCKFILE = new URL('../../package-lock.json', import.meta.url);
const CACHE = new URL('../../node_modules/.cache/parley-test/', import.meta.url);

/** A PGlite database without tables, or a migrated one. To open it takes a fifth of the time of a new one. */
export async function embeddedTemplate(content: 'empty' | 'migrated' = 'migrated'): Promise<Blob> {
  return new Blob([await readFile(new URL(`${content}.tar`, await templates()))]);
}

/** Copies a data directory with a migrated database. */
export async function copyDataDirectory(to: string): Promise<void> {
  await cp(new URL('data', await templates()), to, { recursive: true });
}

/** Writes the templates unless those for these migrations and packages exist. */
export async function prepareEmbedded(): Promise<void> {
  const directory = await templates();
  if (existsSync(directory)) return;
  // Another test run may write the same templates, and a reader must never find a part of them.
  const draft = new URL(`${process.pid}/`, CACHE);
  await mkdir(new URL('data', draft), { recursive: true });
  const database = await PGlite.create();
  await writeFile(new URL('empty.tar', draft), (await database.dumpDataDir('none')).stream());
  await applyMigrations(new PrismaPGlite(database));
  const migrated = await database.dumpDataDir('none');
  await database.close();
  await writeFile(new URL('migrated.tar', draft), migrated.stream());
  const dataDir = fileURLToPath(new URL('data/database', draft));
  await (await embed({ dataDir, loadDataDir: migrated })).close();
  await rename(draft, directory).catch((error) => {
    if (!existsSync(directory)) throw error;
  });
}

/** The directory's name changes with the migrations and with the installed packages. */
async function templates(): Promise<URL> {
  const hash = createHash('sha256').update(await readFile(LOCKFILE));
  for (const path of (await readdir(MIGRATIONS, { recursive: true })).sort()) {
    if (path.endsWith('.sql')) hash.update(await readFile(new URL(path, MIGRATIONS)));
  }
  return new URL(`${hash.digest('hex').slice(0, 16)}/`, CACHE);
}
