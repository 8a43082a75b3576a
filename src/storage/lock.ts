import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the lock of a file, for as long as this process lives or until `release` is called.
 *
 * The lock is the operating system's own, held through SQLite: it ends with the process however that ends,
 * so a killed process leaves nothing to clean up, and it also holds between containers that share a volume.
 *
 * @returns the lock, or `null` when somebody else has it.
 */
export function takeLock(path: string): { release(): void } | null {
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
