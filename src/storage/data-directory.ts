import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivate } from './private-path.ts';

/**
 * Creates a data directory if there is none, and makes it unreadable to other users. An empty one gets a `.gitignore`
 * that keeps its secrets out of the Git repository around it. One that holds files stays as it is: it may be a
 * repository itself.
 *
 * @throws StartupError if the directory belongs to another user, or its file system has no modes.
 */
export async function createDataDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await makePrivate(path, 0o700);
  if ((await readdir(path)).length === 0) await writeFile(join(path, '.gitignore'), '*\n');
}
