/**
 * Exports an account of the database of these settings to a file, or imports one, and prints the result as JSON. `parley
 * account export` and `parley account import` run it.
 *
 * Its arguments are `export ACCOUNT FILE KEY_FILE` or `import FILE KEY_FILE`.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { createEnvironmentCipher, type EnvironmentCipher } from '../deployments/environment.ts';
import { StartupError } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createKeyFile, refusePath } from '../storage/key-file.ts';
import { createPrivateFile } from '../storage/private-file.ts';
import { openSecretKeys } from '../storage/secret-key.ts';
import { exportAccount } from '../transfer/export-account.ts';
import { readAccountFile, writeAccountFile } from '../transfer/file.ts';
import { importAccount } from '../transfer/import-account.ts';
import type { TransferCounts } from '../transfer/transfer.ts';
import { runDatabaseProgram } from './database-program.ts';

const KEY_BYTES = 32;

/** What the command reads. */
type Result = { account: string; rows: TransferCounts };

async function exportTo(
  prisma: PrismaClient,
  own: EnvironmentCipher,
  [account = '', path = '', keyPath = '']: string[],
): Promise<Result> {
  const key = randomBytes(KEY_BYTES);
  await using keyFile = await createKeyFile(keyPath, key.toString('base64'));
  const file = await createPrivateFile(path).catch(refusePath(path));
  try {
    const forFile = createEnvironmentCipher(key);
    const writer = writeAccountFile(file, key);
    const rows = await exportAccount(prisma, account, { own, forFile }, writer);
    await keyFile.keep();
    return { account, rows };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function importFrom(
  prisma: PrismaClient,
  own: EnvironmentCipher,
  [path = '', keyPath = '']: string[],
): Promise<Result> {
  const key = await readKey(keyPath);
  const ofFile = createEnvironmentCipher(key);
  const file = await readAccountFile(path, key);
  const rows = await importAccount(prisma, file, { own, ofFile });
  return { account: file.header.account, rows };
}

async function readKey(path: string): Promise<Uint8Array> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${path} cannot be read: ${error.code}.`, { cause: error });
  });
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new StartupError(`${path} is not the key file of an export.`);
}

await runDatabaseProgram(async (prisma, config) => {
  const [secretKey, ...previousSecretKeys] = await openSecretKeys(prisma, config);
  const own = createEnvironmentCipher(secretKey, previousSecretKeys);
  const [direction, ...words] = process.argv.slice(2);
  return direction === 'export' ? exportTo(prisma, own, words) : importFrom(prisma, own, words);
});
