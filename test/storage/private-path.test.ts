import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { createDataDirectory } from '../../src/storage/data-directory.ts';
import { openEmbedded } from '../../src/storage/embedded.ts';
import { makePrivate } from '../../src/storage/private-path.ts';
import { generatedSecretKey } from '../../src/storage/secret-key.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { dataDirectoryInUse, temporaryDirectory } from '../helpers/directories.ts';
import { startServer } from '../helpers/server.ts';

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const isRoot = process.getuid?.() === 0;

describe('a data directory', () => {
  test.each([0o755, 0o777, 0o750, 0o700])('of mode %o is made private', async (mode) => {
    const directory = await temporaryDirectory();
    await chmod(directory, mode);
    await makePrivate(directory, 0o700);
    expect(await modeOf(directory)).toBe(0o700);
  });

  test('is made private before anything is written into it', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o755);
    await mkdir(join(directory, 'lock'));
    await expect(openEmbedded(directory)).rejects.toThrow(/cannot use/);
    expect(await modeOf(directory)).toBe(0o700);
  });

  test.skipIf(!isRoot)('of another user is refused', async () => {
    const directory = await temporaryDirectory();
    await chown(directory, 65_534, 65_534);
    await expect(openEmbedded(directory)).rejects.toThrow(
      `PARLEY_DATA_DIR: ${directory} belongs to another user, who can read all that it holds. Name a directory of this user, such as a new one inside it.`,
    );
  });

  test.skipIf(inject('databaseUrl'))(
    'and the files that a server writes into it are private, whatever the umask is',
    async () => {
      const directory = await dataDirectoryInUse();
      await chmod(directory, 0o755);
      await rm(join(directory, 'lock'), { force: true });
      const umask = process.umask(0);
      atTheEnd(() => void process.umask(umask));
      const server = await startServer({ dataDirectory: directory });
      await server.stop('SIGTERM');
      expect(await modeOf(directory)).toBe(0o700);
      expect(await modeOf(join(directory, 'lock'))).toBe(0o600);
      expect(await modeOf(join(directory, 'secret.key'))).toBe(0o600);
    },
  );
});

const run = promisify(execFile);

describe('the Git repository around a data directory', () => {
  const repository = async () => {
    const folder = await temporaryDirectory();
    await run('git', ['init', '--quiet', folder]);
    return folder;
  };
  const untracked = async (folder: string) =>
    (await run('git', ['status', '--short', '--untracked-files=all'], { cwd: folder })).stdout;

  test.each(['new', 'empty'])('ignores it, if it is %s at its first use', async (state) => {
    const folder = await repository();
    const directory = join(folder, '.parley');
    if (state === 'empty') await mkdir(directory);
    await createDataDirectory(directory);
    await generatedSecretKey(directory);
    expect(await untracked(folder)).toBe('');
  });

  test('keeps showing its own files, if it is the data directory itself', async () => {
    const folder = await repository();
    await writeFile(join(folder, 'README.md'), '');
    await createDataDirectory(folder);
    expect(await untracked(folder)).toBe('?? README.md\n');
  });
});

describe('a secret key', () => {
  test.each([0o644, 0o666, 0o640])('of mode %o is made private', async (mode) => {
    const directory = await temporaryDirectory();
    const key = await generatedSecretKey(directory);
    const path = join(directory, 'secret.key');
    await chmod(path, mode);
    expect(await generatedSecretKey(directory)).toEqual(key);
    expect(await modeOf(path)).toBe(0o600);
  });

  test.skipIf(!isRoot)('of another user is refused', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'secret.key'), Buffer.alloc(32).toString('base64'));
    await chown(join(directory, 'secret.key'), 65_534, 65_534);
    await expect(generatedSecretKey(directory)).rejects.toThrow(/belongs to another user/);
  });
});

test.skipIf(process.platform !== 'linux')(
  'a file system without permissions is refused',
  async () => {
    // A directory of this user whose mode cannot be changed.
    await expect(makePrivate('/proc/self/task', 0o700)).rejects.toThrow(
      /the file system of \/proc\/self\/task keeps no permissions/,
    );
  },
);
