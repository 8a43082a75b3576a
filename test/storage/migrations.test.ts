import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openPostgres } from '../../src/storage/database.ts';
import { applyMigrations } from '../../src/storage/migrate.ts';
import { checksumOf, type Migration, readMigrations } from '../../src/storage/migration-files.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { emptyDatabase } from '../helpers/empty-database.ts';
import { rounds } from '../helpers/rounds.ts';
import { applyByEngine, diagnose } from '../helpers/schema-engine.ts';

const databaseUrl = inject('databaseUrl');
const all = await readMigrations();
const names = all.map(({ name }) => name);
const middle = Math.floor(all.length / 2);
const UP_TO_DATE = {
  history: null,
  failedMigrationNames: [],
  editedMigrationNames: [],
  hasMigrationsTable: true,
};

/** The same migrations, with another script for one of them. */
const withScript = (index: number, change: (script: string) => string): Migration[] =>
  all.map((one, position) => (position === index ? { ...one, script: change(one.script) } : one));

describe('the records of the migrations', () => {
  test('have the form of Prisma’s schema engine, which accepts them', async () => {
    const columns = `
      SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
      FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`;
    const records = `
      SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count,
        id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', started_at <= finished_at
      FROM _prisma_migrations ORDER BY started_at`;
    const own = await emptyDatabase('own');
    expect(await applyMigrations(own.adapter)).toEqual(names);
    expect(await diagnose(own.adapter, all)).toEqual(UP_TO_DATE);
    expect(await applyByEngine(own.adapter, all)).toEqual([]);

    const engine = await emptyDatabase('engine');
    expect(await applyByEngine(engine.adapter, all)).toEqual(names);
    expect(await applyMigrations(engine.adapter)).toEqual([]);
    expect(await own.rows(columns)).toEqual(await engine.rows(columns));
    expect(await own.rows(records)).toEqual(await engine.rows(records));
  });

  test('of the engine and of Parley follow each other, one by one', async () => {
    const { adapter } = await emptyDatabase('turns');
    for (const [index, name] of names.entries()) {
      const known = all.slice(0, index + 1);
      const apply = index % 2 === 0 ? applyByEngine : applyMigrations;
      expect(await apply(adapter, known)).toEqual([name]);
    }
    expect(await diagnose(adapter, all)).toEqual(UP_TO_DATE);
  });
});

describe('a start', () => {
  const some = rounds(3, names.length - 1);
  const earlier = Array.from({ length: some }, (_, index) =>
    Math.ceil(((index + 1) * (names.length - 1)) / some),
  );

  test.each(earlier)('upgrades an installation with the first %i migrations', async (count) => {
    const { adapter } = await emptyDatabase('earlier');
    await applyByEngine(adapter, all.slice(0, count));
    expect(await applyMigrations(adapter)).toEqual(names.slice(count));
    expect(await diagnose(adapter, all)).toEqual(UP_TO_DATE);
  });

  test('goes on after a migration that failed in the middle, and names it', async () => {
    const { adapter, query, unfinished } = await emptyDatabase('middle');
    const broken = withScript(middle, (script) => `${script};\nSELECT 1 / 0;`);
    await expect(applyMigrations(adapter, broken)).rejects.toThrow(
      `the migration ${names[middle]} cannot be applied: division by zero`,
    );
    expect(await unfinished()).toEqual([names[middle]]);
    expect(await query('SELECT logs FROM _prisma_migrations WHERE finished_at IS NULL')).toEqual([
      'division by zero',
    ]);
    expect(await diagnose(adapter, all)).toMatchObject({ failedMigrationNames: [names[middle]] });
    expect(await applyMigrations(adapter)).toEqual(names.slice(middle));
    expect(await diagnose(adapter, all)).toEqual(UP_TO_DATE);
  });

  test('repeats what an earlier version recorded as failed or as rolled back', async () => {
    const { adapter, query } = await emptyDatabase('failed');
    const known = all.slice(0, 2);
    await applyByEngine(adapter, all.slice(0, 1));
    await query(`
      INSERT INTO _prisma_migrations (id, checksum, migration_name, logs, rolled_back_at) VALUES
        ('failed', 'x', '${names[1]}', 'It failed.', NULL),
        ('rolled back', 'x', '${names[1]}', 'It failed.', now())`);
    expect(await applyMigrations(adapter, known)).toEqual([names[1]]);
    expect(
      await query(`SELECT id FROM _prisma_migrations WHERE checksum = 'x' ORDER BY id`),
    ).toEqual(['rolled back']);
    expect(await diagnose(adapter, known)).toEqual(UP_TO_DATE);
  });

  test('refuses a file that has changed since it was applied, and applies nothing', async () => {
    const { adapter, query } = await emptyDatabase('changed');
    await applyMigrations(adapter, all.slice(0, 2));
    const changed = withScript(1, (script) => `${script}-- Changed\n`);
    for (const known of [changed.slice(0, 2), changed.slice(0, 3)])
      await expect(applyMigrations(adapter, known)).rejects.toThrow(
        new RegExp(
          `^The file prisma/migrations/${names[1]}/migration.sql has changed since the database applied it at \\d{4}-.*\\. Restore the file, `,
        ),
      );
    expect(await query('SELECT migration_name FROM _prisma_migrations')).toHaveLength(2);
    expect(await applyMigrations(adapter, all.slice(0, 3))).toEqual([names[2]]);
  });

  test.each([
    ['\n', '\r\n'],
    ['\r\n', '\n'],
  ])('accepts an applied file whose lines ended with %j and end with %j', async (before, after) => {
    const { adapter, query } = await emptyDatabase('ends');
    const [first] = all;
    if (!first) throw new Error('There are no migrations.');
    const ending = (end: string) => [{ ...first, script: first.script.replaceAll('\n', end) }];
    await applyMigrations(adapter, ending(before));
    expect(await query('SELECT checksum FROM _prisma_migrations')).toEqual([
      checksumOf(first.script.replaceAll('\n', before)),
    ]);
    expect(await applyMigrations(adapter, ending(after))).toEqual([]);
  });

  test('of an earlier version leaves the migrations of a later one alone', async () => {
    const { adapter, query } = await emptyDatabase('later');
    await applyMigrations(adapter, all.slice(0, 2));
    const earlierVersion = all.slice(0, 1);
    expect(await applyMigrations(adapter, earlierVersion)).toEqual([]);
    const branch = [...earlierVersion, { name: '20991231000000_own', script: 'SELECT 1;' }];
    expect(await applyMigrations(adapter, branch)).toEqual(['20991231000000_own']);
    expect(await query('SELECT migration_name FROM _prisma_migrations')).toHaveLength(3);
  });

  test('refuses a database with the tables of another program', async () => {
    const { adapter, query, tables } = await emptyDatabase('foreign');
    await query('CREATE TABLE orders (id int)');
    await expect(applyMigrations(adapter)).rejects.toThrow(
      'The database belongs to another program: it has the table orders,',
    );
    expect(await tables()).toEqual(['orders']);
  });
});

describe.skipIf(!databaseUrl)('on PostgreSQL', () => {
  const urlOf = async (query: (sql: string) => Promise<unknown[]>) => {
    const [name] = await query('SELECT current_database()::text');
    return Object.assign(new URL(databaseUrl ?? ''), { pathname: `/${name}` }).href;
  };

  test('the error of a changed file is the whole message of the start', async () => {
    const { adapter, query } = await emptyDatabase('message');
    await applyMigrations(adapter);
    await query(
      `UPDATE _prisma_migrations SET checksum = 'x' WHERE migration_name = '${names[0]}'`,
    );
    await expect(openPostgres(await urlOf(query))).rejects.toThrow(
      /^The file prisma\/migrations\/\w+\/migration.sql has changed [^?]*$/,
    );
  });

  test('two processes at once apply each migration once', async () => {
    const { adapter, query } = await emptyDatabase('at_once');
    const applied = await Promise.all([applyMigrations(adapter), applyMigrations(adapter)]);
    expect(applied.flat().sort()).toEqual(names);
    expect(await query('SELECT count(*)::int FROM _prisma_migrations')).toEqual([names.length]);
  });

  test('a start waits while Prisma’s tools hold the lock', async () => {
    const { adapter, query, tables } = await emptyDatabase('lock');
    const prisma = new pg.Client({ connectionString: await urlOf(query) });
    atTheEnd(() => prisma.end());
    await prisma.connect();
    await prisma.query('SELECT pg_advisory_lock(72707369)');
    const applying = applyMigrations(adapter, all.slice(0, 1));
    const asked = `SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory_xact_lock%'`;
    await expect.poll(() => query(asked)).toEqual([1]);
    expect(await tables()).toEqual([]);
    await prisma.query('SELECT pg_advisory_unlock(72707369)');
    expect(await applying).toEqual(names.slice(0, 1));
  });

  test('an interrupted creation of indexes is repeated', async () => {
    const { adapter, query } = await emptyDatabase('indexes');
    await applyMigrations(adapter, all.slice(0, 1));
    const creating = (column: string): Migration[] => {
      const script = `CREATE INDEX CONCURRENTLY "index_a" ON "bots" ("name");
        CREATE INDEX CONCURRENTLY "index_b" ON "bots" ("${column}");`;
      return [...all.slice(0, 1), { name: '20991231000000_indexes', script }];
    };
    const indexes = () =>
      query(`SELECT indexname FROM pg_indexes WHERE indexname LIKE 'index__' ORDER BY 1`);
    await expect(applyMigrations(adapter, creating('absent'))).rejects.toThrow(
      'the migration 20991231000000_indexes cannot be applied: column "absent" does not exist',
    );
    expect(await indexes()).toEqual(['index_a']);
    expect(await applyMigrations(adapter, creating('id'))).toEqual(['20991231000000_indexes']);
    expect(await indexes()).toEqual(['index_a', 'index_b']);
  });
});
