import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

export const PRISMA_DIRECTORY = new URL('../../prisma/', import.meta.url);

/** A folder below `prisma/migrations`, with its SQL. */
export type Migration = { name: string; script: string };

/** The migrations of this version, in their order. */
export async function readMigrations(): Promise<Migration[]> {
  const directory = new URL('migrations/', PRISMA_DIRECTORY);
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({
      name,
      script: await readFile(new URL(`${name}/migration.sql`, directory), 'utf8'),
    })),
  );
}

/** The checksum that Prisma records: SHA-256 in hexadecimal digits. */
export function checksumOf(script: string): string {
  return createHash('sha256').update(script).digest('hex');
}

/** Whether a script has a checksum. As for Prisma, Git may have changed the ends of its lines. */
export function hasChecksum(script: string, checksum: string): boolean {
  const unix = script.replaceAll('\r\n', '\n');
  return [script, unix, unix.replaceAll('\n', '\r\n')].map(checksumOf).includes(checksum);
}
