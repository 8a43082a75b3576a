import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a file until `release` is called or this process exits.
 *
 * SQLite holds an operating system lock on the file: a killed process leaves no stale lock, and the lock also works
 * between containers that share a volume.
 *
 * @returns the lock, or `null` if another process holds it.
 */
export function acquireLock(path: string): { release(): void } | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message === 'database is locked') return null;
    throw error;
  }
  return { release: () => database.close() };
}
