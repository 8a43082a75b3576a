import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { applyMigrations } from '../../src/storage/migrate.ts';

const MIGRATIONS = new URL('../../prisma/migrations/', import.meta.url);
const LOCKFILE = new URL('../../package-lock.json', import.meta.url);
const CACHE = new URL('../../node_modules/.cache/parley-test/', import.meta.url);

/** The data directory of a migrated PGlite database. To open it takes a fifth of the time of a new one. */
export async function embeddedTemplate(): Promise<Blob> {
  return new Blob([await readFile(await templateFile())]);
}

/** Writes the template unless one for these migrations and packages exists. */
export async function prepareEmbedded(): Promise<void> {
  const file = await templateFile();
  if (existsSync(file)) return;
  const database = await PGlite.create();
  await applyMigrations(new PrismaPGlite(database));
  const dump = await database.dumpDataDir('none');
  await database.close();
  await mkdir(CACHE, { recursive: true });
  // Another test run may write the same template, and a reader must never find half of it.
  const draft = new URL(`${process.pid}.tar`, CACHE);
  await writeFile(draft, dump.stream());
  await rename(draft, file);
}

/** The file's name changes with the migrations and with the installed packages. */
async function templateFile(): Promise<URL> {
  const hash = createHash('sha256').update(await readFile(LOCKFILE));
  for (const path of (await readdir(MIGRATIONS, { recursive: true })).sort()) {
    if (path.endsWith('.sql')) hash.update(await readFile(new URL(path, MIGRATIONS)));
  }
  return new URL(`${hash.digest('hex').slice(0, 16)}.tar`, CACHE);
}
