import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { databasePrefix, preparePostgres } from './helpers/database.ts';
import { temporaryRoot } from './helpers/directories.ts';
import { prepareEmbedded } from './helpers/embedded-template.ts';

/** Migrates the databases that the workers copy, once. @returns a function that deletes what this test run leaves. */
export default async ({ config: { provide } }: TestProject) => {
  await prepareEmbedded();
  const { databaseUrl } = provide;
  if (databaseUrl) await preparePostgres(databaseUrl);
  return async () => {
    await rm(temporaryRoot(process.pid), { recursive: true, force: true, maxRetries: 3 });
    if (databaseUrl) await dropDatabases(databaseUrl);
  };
};

async function dropDatabases(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [databasePrefix(process.pid)],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
