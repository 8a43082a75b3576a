import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { makePrivate } from './private-path.ts';

/**
 * Reads the generated secret key of a data directory, or makes it where there is none. Its mode becomes 0600.
 *
 * @throws StartupError where it cannot be read, or is no key.
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

/** What an installation remembers of its secret key: tells a wrong one, gives nothing of it away. */
export function secretKeyCheck(key: Buffer): string {
  return createHmac('sha256', key).update('parley secret key').digest('base64');
}

/**
 * Refuses to go on with secret keys that are not those of the database: what it holds encrypted would be
 * unreadable, and what is added would be unreadable to everybody else.
 *
 * @throws StartupError when none of the keys fits.
 */
export async function assertSecretKey(prisma: PrismaClient, keys: Buffer[]): Promise<void> {
  const installation = await prisma.installation.findUnique({ where: { id: 1 } });
  if (installation === null) return;
  const expected = Buffer.from(installation.secretKeyCheck);
  if (keys.some((key) => timingSafeEqual(Buffer.from(secretKeyCheck(key)), expected))) return;
  throw new StartupError(
    'PARLEY_SECRET_KEY is not the key that this database was set up with. Set the first one; to change it, put the new one before it: PARLEY_SECRET_KEY=new,old',
  );
}
