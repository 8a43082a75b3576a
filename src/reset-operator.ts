/**
 * Makes a new operator key in the database of these settings, revokes the others, and prints the result as JSON. `parley
 * key reset-operator` runs it.
 *
 * Its argument says where the key goes: `stdout`, `data-directory`, or `file` with a path after it.
 */
import { isSeeded } from '../prisma/seed.ts';
import { makeApiKey } from './accounts/key-format.ts';
import { resetOperatorKeys } from './accounts/operator.ts';
import { readConfig } from './config.ts';
import { databaseOf } from './configured-database.ts';
import { readSettings } from './env-file.ts';
import { errorForLog } from './error-log.ts';
import { StartupError } from './errors.ts';
import { createKeyFile, type KeyFile, stageOperatorKey } from './storage/key-file.ts';

/** What the command reads. */
type Result = {
  id: string;
  revoked: { id: string; name: string }[];
  /** Only for `stdout`. */
  secret?: string;
  /** The path of the file with the key. */
  file?: string;
};

async function reset(place: string | undefined, path = ''): Promise<Result> {
  // Other users must not read the files that this process creates.
  process.umask(0o077);
  const config = readConfig((await readSettings()).values);
  const database = await databaseOf(config);
  try {
    const { prisma } = database;
    if (!(await isSeeded(prisma)))
      throw new StartupError('The database is empty. The first start makes the operator key.');
    const secret = makeApiKey();
    if (place === 'stdout') {
      const { apiKey, revoked } = await resetOperatorKeys(prisma, secret);
      return { id: apiKey.id, revoked, secret };
    }
    // The file comes before the key, so that a path that cannot be written changes no key.
    await using file: KeyFile =
      place === 'file'
        ? await createKeyFile(path, secret)
        : await stageOperatorKey(config.dataDirectory, secret);
    const { apiKey, revoked } = await resetOperatorKeys(prisma, secret);
    await file.keep();
    return { id: apiKey.id, revoked, file: file.path };
  } finally {
    await database.close();
  }
}

const print = (stream: NodeJS.WriteStream, text: string, code: number) =>
  stream.write(`${text}\n`, () => process.exit(code));

try {
  const result = await reset(process.argv[2], process.argv[3]);
  print(process.stdout, JSON.stringify(result), 0);
} catch (error) {
  const isExpected = error instanceof StartupError;
  print(process.stderr, isExpected ? error.message : JSON.stringify(errorForLog(error)), 1);
}
