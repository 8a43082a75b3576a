/**
 * Exports an account of the database of these settings to a file, or imports one, and prints the result as JSON. `parley
 * account export` and `parley account import` run it.
 *
 * Its arguments are `export ACCOUNT FILE KEY_FILE` or `import FILE KEY_FILE`.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { type Config, readConfig } from './config.ts';
import { databaseOf } from './configured-database.ts';
import { createEnvironmentCipher, type EnvironmentCipher } from './deployments/environment.ts';
import { readSettings } from './env-file.ts';
import { errorForLog } from './error-log.ts';
import { StartupError } from './errors.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import { createPrivateFile } from './private-file.ts';
import { createKeyFile, refusePath } from './storage/key-file.ts';
import { assertSecretKey, generatedSecretKey } from './storage/secret-key.ts';
import { exportAccount } from './transfer/export-account.ts';
import { readAccountFile, writeAccountFile } from './transfer/file.ts';
import { importAccount } from './transfer/import-account.ts';
import type { TransferCounts } from './transfer/transfer.ts';

const KEY_BYTES = 32;

/** What the command reads. */
type Result = { account: string; rows: TransferCounts };

async function transfer([direction, ...words]: string[]): Promise<Result> {
  // Other users must not read the files that this process creates.
  process.umask(0o077);
  const config = readConfig((await readSettings()).values);
  const database = await databaseOf(config);
  try {
    const own = await ownCipher(database.prisma, config);
    if (direction === 'export') return await exportTo(database.prisma, own, words);
    return await importFrom(database.prisma, own, words);
  } finally {
    await database.close();
  }
}

async function ownCipher(
  prisma: PrismaClient,
  { secretKey, previousSecretKeys, dataDirectory }: Config,
): Promise<EnvironmentCipher> {
  const present = secretKey ?? (await generatedSecretKey(dataDirectory));
  await assertSecretKey(prisma, [present, ...previousSecretKeys]);
  return createEnvironmentCipher(present, previousSecretKeys);
}

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

const print = (stream: NodeJS.WriteStream, text: string, code: number) =>
  stream.write(`${text}\n`, () => process.exit(code));

try {
  const result = await transfer(process.argv.slice(2));
  print(process.stdout, JSON.stringify(result), 0);
} catch (error) {
  const isExpected = error instanceof StartupError;
  print(process.stderr, isExpected ? error.message : JSON.stringify(errorForLog(error)), 1);
}
