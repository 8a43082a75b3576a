import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../errors/errors.ts';
import { createDataDirectory } from './data-directory.ts';
import { writePrivateFile } from './private-file.ts';

/** A file that holds a new operator key alone. It is removed at its disposal, unless `keep` was called before. */
export type KeyFile = AsyncDisposable & {
  path: string;
  /** Keeps the file. Call it when the key is in the database. */
  keep(): Promise<void>;
};

/**
 * Writes a key for `operator-key` in the data directory. `keep` puts it into its place by a rename, which replaces an
 * earlier key at once, and a symbolic link without following it.
 *
 * @throws StartupError if the directory cannot be used.
 */
export async function stageOperatorKey(dataDirectory: string, key: string): Promise<KeyFile> {
  const path = join(dataDirectory, 'operator-key');
  const staged = `${path}-${randomUUID()}`;
  await createDataDirectory(dataDirectory)
    .then(() => writePrivateFile(staged, `${key}\n`))
    .catch((error: NodeJS.ErrnoException) => {
      if (error instanceof StartupError) throw error;
      throw new StartupError(
        `PARLEY_DATA_DIR: the operator key cannot be written to ${path}: ${error.code ?? error.message}. Name a directory that this user may write to.`,
        { cause: error },
      );
    });
  return disposable(path, staged, () => rename(staged, path));
}

/**
 * Writes a key to a new file.
 *
 * @throws StartupError if the path exists, also as a link, or cannot be written.
 */
export async function createKeyFile(path: string, key: string): Promise<KeyFile> {
  await writePrivateFile(path, `${key}\n`).catch(refusePath(path));
  return disposable(path, path, async () => {});
}

/** Explains why a new file cannot be made. */
export function refusePath(path: string) {
  return (error: NodeJS.ErrnoException): never => {
    const reason = error.code === 'EEXIST' ? 'it exists' : (error.code ?? error.message);
    throw new StartupError(`${path} cannot be written: ${reason}.`, { cause: error });
  };
}

function disposable(path: string, written: string, finish: () => Promise<void>): KeyFile {
  let isKept = false;
  return {
    path,
    async keep() {
      await finish();
      isKept = true;
    },
    async [Symbol.asyncDispose]() {
      if (!isKept) await rm(written, { force: true });
    },
  };
}
