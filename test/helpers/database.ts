import pg from 'pg';
import { inject } from 'vitest';
import { type Database, embed, openPostgres } from '../../src/storage/database.ts';

let opened: Promise<Database> | undefined;

/** This worker's database. It contains only the rows of tests, each under its own accounts. */
export function testDatabase(): Promise<Database> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Database> {
  const url = inject('databaseUrl');
  return url ? openPostgres(await freshDatabase(url)) : embed({});
}

/** The prefix of all database names of one test run, from the process id of the workers' parent. */
export const databasePrefix = (pid: number) => `parley_test_${pid}_`;

/** Creates an empty database on the same server. It is dropped after the test run. */
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
