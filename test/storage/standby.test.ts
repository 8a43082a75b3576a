import { describe, expect, inject, test } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { statement } from '../../src/storage/sql.ts';
import { linkPostgres } from '../helpers/postgres.ts';

/** Makes the connection that executes it refuse writes with the code that a standby uses. */
const BECOME_READ_ONLY = statement(`
  SELECT set_config('default_transaction_read_only', 'on', false) AS state
  FROM json_to_record($1) AS requested (key text)`);
const SLOW = statement(
  'SELECT true AS done FROM json_to_record($1) AS requested (id text), (SELECT pg_sleep(0.3)) AS slept',
);
const WRITE = statement(
  'DELETE FROM owners USING json_to_record($1) AS requested (id text) WHERE owners.id = requested.id',
);

describe.skipIf(!inject('databaseUrl'))('a server that becomes a standby', () => {
  test('refuses one write; then all pools have left it', async () => {
    const { database, connectionAttempts } = await linkPostgres();
    const { prisma, sql } = database;
    const remove = () => prisma.owner.deleteMany({ where: { id: 'none' } });
    await Promise.all([remove(), sql(WRITE, ['{}'])]);
    await sql(BECOME_READ_ONLY, ['{}']);
    await prisma.$queryRaw`SELECT set_config('default_transaction_read_only', 'on', false)`;
    const before = connectionAttempts();

    await expect(
      prisma.$transaction((tx) => tx.owner.deleteMany({ where: { id: 'none' } })),
    ).rejects.toThrow('read-only');
    await remove();
    await prisma.$transaction((tx) => tx.owner.deleteMany({ where: { id: 'none' } }));
    await sql(WRITE, ['{}']);
    expect(connectionAttempts()).toBeGreaterThan(before);
  });

  test('keeps the statements that run on other connections', async () => {
    const { database } = await linkPostgres();
    const { prisma, sql } = database;
    await sql(BECOME_READ_ONLY, ['{}']);
    const slow = [
      prisma.$queryRaw`SELECT true AS done FROM (SELECT pg_sleep(0.3)) AS slept`,
      sql(SLOW, ['{}']),
      database.search.query(
        Prisma.sql`SELECT true AS done FROM (SELECT pg_sleep(0.3)) AS slept`,
        2_000,
      ),
    ];
    // The connection in use is not the read-only one, which refuses the write.
    await expect(sql(BECOME_READ_ONLY, ['{}']).then(() => sql(WRITE, ['{}']))).rejects.toThrow(
      'read-only',
    );
    expect(await Promise.all(slow)).toEqual(slow.map(() => [{ done: true }]));
  });
});
