import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openPostgres } from '../../src/storage/database.ts';
import { embed } from '../../src/storage/embedded.ts';
import { atTheEndOfFile } from './at-the-end.ts';
import { embeddedTemplate } from './embedded-template.ts';

let opened: Promise<Database> | undefined;
/** Whether the current file uses the worker's database. */
let isUsed = false;

/** This worker's database. It contains only the rows of tests, each under its own accounts. */
export function testDatabase(): Promise<Database> {
  opened ??= migratedDatabase(process.env.VITEST_POOL_ID ?? '0');
  if (!isUsed) atTheEndOfFile(abandonWork);
  isUsed = true;
  return opened;
}

/** Ends what waits for an app: an app of the worker's next file would execute, recover and count it. */
async function abandonWork(): Promise<void> {
  const { prisma } = await testDatabase();
  await prisma.$executeRaw`
    WITH ended AS (UPDATE runs SET status = 'CANCELLED' WHERE status IN ('QUEUED', 'RUNNING')),
      settled AS (UPDATE approvals SET settled_at = now() WHERE settled_at IS NULL AND decided_at IS NOT NULL),
      expiring AS (DELETE FROM approvals WHERE status = 'WAITING'),
      released AS (UPDATE deployments SET gate = NULL WHERE status = 'PENDING'),
      evaluated AS (DELETE FROM evaluations WHERE finished_at IS NULL),
      received AS (DELETE FROM telegram_updates),
      connected AS (DELETE FROM channel_states)
    DELETE FROM owners`;
  isUsed = false;
}

/** Opens a migrated database without rows. @param name identifies it on the PostgreSQL server. */
export async function migratedDatabase(name: string): Promise<Database> {
  const url = inject('databaseUrl');
  return url
    ? openPostgres(await migratedUrl(url, name))
    : embed({ loadDataDir: await embeddedTemplate() });
}

/** Creates a migrated database on the same server. It is dropped after the test run. */
export function migratedUrl(url: string, suffix: string): Promise<string> {
  return freshDatabase(url, suffix, templateName(process.ppid));
}

/** The prefix of all database names of one test run, from the process id of the workers' parent. */
export const databasePrefix = (pid: number) => `parley_test_${pid}_`;
const templateName = (pid: number) => `${databasePrefix(pid)}template`;

/** Creates a database on the same server, empty by default. It is dropped after the test run. */
export async function freshDatabase(
  url: string,
  suffix: string,
  template = 'template1',
): Promise<string> {
  return createDatabase(url, databasePrefix(process.ppid) + suffix, template);
}

/** Creates and migrates the database that `migratedDatabase` copies. Runs in the parent of the workers. */
export async function preparePostgres(url: string): Promise<void> {
  const database = await openPostgres(
    await createDatabase(url, templateName(process.pid), 'template1'),
  );
  // PostgreSQL copies no database that has connections.
  await database.close();
}

async function createDatabase(url: string, name: string, template: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    // No test stops PostgreSQL, so a commit need not wait for the disk.
    await client.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
