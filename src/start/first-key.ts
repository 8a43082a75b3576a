import { makeApiKey } from '../accounts/key-format.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { stageOperatorKey } from '../storage/key-file.ts';
import { secretKeyCheck } from '../storage/secret-key.ts';
import type { Config } from './config.ts';
import { isSeeded, seed } from './seed.ts';

/** Where the operator finds the API key after a start. */
export type FirstKey =
  /** Another start set up the database. */
  | { where: 'elsewhere' }
  /** This start set up the database with `PARLEY_BOOTSTRAP_KEY`. */
  | { where: 'settings'; key: string }
  /** This start generated the key, and shows it on the terminal. */
  | { where: 'terminal'; key: string }
  /** This start generated the key, and wrote it into a file. */
  | { where: 'file'; key: string; path: string };

/**
 * Sets up an empty database. A generated key goes to the terminal; without a terminal, the output may be a log that many
 * people read, so the key goes into a file that only this user can read.
 *
 * @throws StartupError if that file cannot be written. The database is then still empty.
 */
export async function seedWithKey(
  prisma: PrismaClient,
  secretKey: Buffer,
  { bootstrapKey, dataDirectory }: Pick<Config, 'bootstrapKey' | 'dataDirectory'>,
  isTerminal: boolean,
): Promise<FirstKey> {
  if (await isSeeded(prisma)) return { where: 'elsewhere' };
  const key = bootstrapKey ?? makeApiKey();
  if (bootstrapKey !== undefined || isTerminal) {
    const isFirst = await seed(prisma, secretKeyCheck(secretKey), key);
    return isFirst
      ? { where: bootstrapKey === undefined ? 'terminal' : 'settings', key }
      : { where: 'elsewhere' };
  }
  await using file = await stageOperatorKey(dataDirectory, key);
  if (!(await seed(prisma, secretKeyCheck(secretKey), key))) return { where: 'elsewhere' };
  await file.keep();
  return { where: 'file', key, path: file.path };
}
