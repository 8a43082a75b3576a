import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const PRISMA_DIRECTORY = new URL('../../prisma/', import.meta.url);

export type Migrations = Awaited<ReturnType<typeof readMigrations>>;

/** The migrations of this version, in the form that the schema engine takes. */
export async function readMigrations() {
  const directory = new URL('migrations/', PRISMA_DIRECTORY);
  const read = (path: string) => readFile(new URL(path, directory), 'utf8');
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir: fileURLToPath(directory),
    lockfile: { path: 'migration_lock.toml', content: await read('migration_lock.toml') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.sort().map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await read(`${name}/migration.sql`) },
        },
      })),
    ),
  };
}
