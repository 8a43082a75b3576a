import { PGlite } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { inject } from 'vitest';
import { atTheEnd } from './at-the-end.ts';
import { freshDatabase } from './database.ts';
import { embeddedTemplate } from './embedded-template.ts';

/** An empty database without migrations, with functions that query it directly. @param name identifies it on the server. */
export async function emptyDatabase(name = 'migration') {
  const url = inject('databaseUrl');
  const adapter = url
    ? new PrismaPg({ connectionString: await freshDatabase(url, name) })
    : new PrismaPGlite(new PGlite({ loadDataDir: await embeddedTemplate('empty') }));
  const connection = await adapter.connect();
  atTheEnd(() => connection.dispose());
  const rows = async (sql: string) =>
    (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows;
  const query = async (sql: string) => (await rows(sql)).flat();
  return {
    adapter,
    rows,
    query,
    tables: () => query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
    unfinished: () =>
      query('SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NULL'),
  };
}
