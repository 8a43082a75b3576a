/**
 * Makes a new operator key in the database of these settings, revokes the others, and prints the result as JSON. `parley
 * key reset-operator` runs it.
 *
 * Its argument says where the key goes: `stdout`, `data-directory`, or `file` with a path after it.
 */
import { makeApiKey } from '../accounts/key-format.ts';
import { resetOperatorKeys } from '../accounts/operator.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createKeyFile, type KeyFile, stageOperatorKey } from '../storage/key-file.ts';
import { runDatabaseProgram } from './database-program.ts';

/** What the command reads. */
type Result = {
  id: string;
  revoked: { id: string; name: string }[];
  /** Only for `stdout`. */
  secret?: string;
  /** The path of the file with the key. */
  file?: string;
};

async function reset(
  prisma: PrismaClient,
  dataDirectory: string,
  [place, path = '']: string[],
): Promise<Result> {
  const secret = makeApiKey();
  if (place === 'stdout') {
    const { apiKey, revoked } = await resetOperatorKeys(prisma, secret);
    return { id: apiKey.id, revoked, secret };
  }
  // The file comes before the key, so that a path that cannot be written changes no key.
  await using file: KeyFile =
    place === 'file'
      ? await createKeyFile(path, secret)
      : await stageOperatorKey(dataDirectory, secret);
  const { apiKey, revoked } = await resetOperatorKeys(prisma, secret);
  await file.keep();
  return { id: apiKey.id, revoked, file: file.path };
}

await runDatabaseProgram((prisma, { dataDirectory }) =>
  reset(prisma, dataDirectory, process.argv.slice(2)),
);
