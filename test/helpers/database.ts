import pg from 'pg';
import { inject } from 'vitest';
import { type Database, embed, openPostgres } from '../../src/storage/database.ts';

let opened: Promise<Database> | undefined;

/** The database of this worker, empty but for what other tests put there for accounts of their own. */
export function testDatabase(): Promise<Database> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Database> {
  const url = inject('databaseUrl');
  return url ? openPostgres(await freshDatabase(url)) : embed({});
}

/** What the names of all databases of a run of the tests begin with, by its process, of which the workers are children. */
export const databasePrefix = (pid: number) => `parley_test_${pid}_`;

/** Makes an empty database beside the given one, which is there until the tests are over. */
export async function freshDatabase(url: string, suffix = process.env.VITEST_POOL_ID ?? '0') {
  const name = databasePrefix(process.ppid) + suffix;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
