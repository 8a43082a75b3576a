import { StartupError } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { type Config, readConfig } from './config.ts';
import { databaseOf } from './configured-database.ts';
import { readSettings } from './env-file.ts';
import { errorForLog } from './error-log.ts';
import { isSeeded } from './seed.ts';

/**
 * Runs a program that the command starts in a process of its own: it opens the database of the settings, prints the result of
 * the work as JSON, and exits. An expected error is printed as a sentence, with the exit code 1.
 *
 * @param work may throw StartupError.
 */
export async function runDatabaseProgram(
  work: (prisma: PrismaClient, config: Config) => Promise<unknown>,
): Promise<void> {
  try {
    print(process.stdout, JSON.stringify(await run(work)), 0);
  } catch (error) {
    const isExpected = error instanceof StartupError;
    print(process.stderr, isExpected ? error.message : JSON.stringify(errorForLog(error)), 1);
  }
}

async function run(work: Parameters<typeof runDatabaseProgram>[0]): Promise<unknown> {
  // Other users must not read the files that this process creates.
  process.umask(0o077);
  const config = readConfig((await readSettings()).values);
  const { prisma, close } = await databaseOf(config);
  try {
    if (!(await isSeeded(prisma)))
      throw new StartupError('The database is empty. The first start makes the operator key.');
    return await work(prisma, config);
  } finally {
    await close();
  }
}

function print(stream: NodeJS.WriteStream, text: string, code: number): void {
  stream.write(`${text}\n`, () => process.exit(code));
}
