import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { databasePrefix } from './helpers/database.ts';

/** Drops what the tests of this run have left on the PostgreSQL server, once they are over. */
export default ({ config: { provide } }: TestProject) =>
  async () => {
    const client = new pg.Client({ connectionString: provide.databaseUrl });
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
  };
