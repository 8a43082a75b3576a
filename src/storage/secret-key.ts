import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { makePrivate } from './private-path.ts';

/**
 * Reads the secret key of a data directory, or generates it if there is none. Sets the file's mode to 0600.
 *
 * @throws StartupError if the file cannot be read or is not a key.
 */
export async function generatedSecretKey(dataDirectory: string): Promise<Buffer> {
  const path = join(dataDirectory, 'secret.key');
  const fresh = randomBytes(32).toString('base64');
  const key = await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    })
    .then(() => makePrivate(path, 0o600))
    .then(() => readFile(path, 'utf8'))
    .then((text) => Buffer.from(text, 'base64'))
    .catch((error: Error) => {
      if (error instanceof StartupError) throw error;
      throw new StartupError(
        `PARLEY_DATA_DIR: cannot read the secret key in ${path}: ${error.message}. Let this user read it, or set PARLEY_SECRET_KEY.`,
        { cause: error },
      );
    });
  if (key.length === 32) return key;
  throw new StartupError(
    `${path} does not hold a secret key of 32 bytes in base64. Restore it from a backup, or set PARLEY_SECRET_KEY.`,
  );
}

/** The HMAC by which an installation recognizes its secret key. It does not reveal the key. */
export function secretKeyCheck(key: Buffer): string {
  return createHmac('sha256', key).update('parley secret key').digest('base64');
}

/** The settings of the secret keys. */
type KeySettings = {
  /** None: generated in the data directory. */
  secretKey: Buffer | undefined;
  previousSecretKeys: Buffer[];
  dataDirectory: string;
};

/**
 * The secret keys of an installation, the current one first.
 *
 * @throws StartupError as `generatedSecretKey` and `assertSecretKey` do.
 */
export async function openSecretKeys(
  prisma: PrismaClient,
  { secretKey, previousSecretKeys, dataDirectory }: KeySettings,
): Promise<[Buffer, ...Buffer[]]> {
  const current = secretKey ?? (await generatedSecretKey(dataDirectory));
  await assertSecretKey(prisma, [current, ...previousSecretKeys]);
  return [current, ...previousSecretKeys];
}

/**
 * Checks the secret keys against the database. With other keys, this process could not decrypt existing data, and other
 * processes could not decrypt new data.
 *
 * @throws StartupError if no key matches.
 */
export async function assertSecretKey(prisma: PrismaClient, keys: Buffer[]): Promise<void> {
  const installation = await prisma.installation.findUnique({ where: { id: 1 } });
  if (installation === null) return;
  const expected = Buffer.from(installation.secretKeyCheck);
  if (keys.some((key) => timingSafeEqual(Buffer.from(secretKeyCheck(key)), expected))) return;
  throw new StartupError(
    'PARLEY_SECRET_KEY is not the key that this database uses. Set PARLEY_SECRET_KEY to that key. To change it, put the new key before the old key: PARLEY_SECRET_KEY=new,old',
  );
}
