import { type FileHandle, open } from 'node:fs/promises';

/**
 * Writes a new file with secrets that only the user can read, whatever the umask is. The text is on the disk when it
 * resolves.
 *
 * @throws Error `EEXIST` if the path exists, also as a link.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'wx', 0o600);
    // The umask may have removed permissions of the user.
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file?.close();
  }
}
