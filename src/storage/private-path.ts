import { chmod, stat } from 'node:fs/promises';
import { StartupError } from '../errors/errors.ts';

/** The permission bits of the group and of others. */
const OTHERS = 0o077;

/**
 * Removes all other users' permissions from a file or a directory. Does nothing on Windows, where files have no modes.
 *
 * @param mode the permissions of the owner, such as `0o700`.
 * @throws StartupError if the path belongs to another user, or its file system has no modes.
 */
export async function makePrivate(path: string, mode: number): Promise<void> {
  const user = process.getuid?.();
  if (user === undefined) return;
  const { uid } = await stat(path);
  if (uid !== user)
    throw new StartupError(
      `PARLEY_DATA_DIR: ${path} belongs to another user, who can read all that it holds. Name a directory of this user, such as a new one inside it.`,
    );
  if (await isPrivate(path)) return;
  await chmod(path, mode).catch(() => {});
  if (await isPrivate(path)) return;
  throw new StartupError(
    `PARLEY_DATA_DIR: the file system of ${path} keeps no permissions, so that other users can read all that it holds. Name a directory on another file system.`,
  );
}

async function isPrivate(path: string): Promise<boolean> {
  return ((await stat(path)).mode & OTHERS) === 0;
}
