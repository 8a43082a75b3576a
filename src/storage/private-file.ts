import { type FileHandle, open } from 'node:fs/promises';

/**
 * Creates a file for secrets that only the user can read, whatever the umask is.
 *
 * @throws Error `EEXIST` if the path exists, also as a link.
 */
export async function createPrivateFile(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600);
  // The umask may have removed permissions of the user.
  await file.chmod(0o600);
  return file;
}

/** Writes a file of `createPrivateFile`. Its text is on the disk when this resolves. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const file = await createPrivateFile(path);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
