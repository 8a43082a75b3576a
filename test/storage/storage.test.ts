import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
} from '@prisma/driver-adapter-utils';
import { describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { seed } from '../../src/start/seed.ts';
import { openPostgres } from '../../src/storage/database.ts';
import { acquireLock } from '../../src/storage/lock.ts';
import { applyMigrations } from '../../src/storage/migrate.ts';
import {
  assertSecretKey,
  generatedSecretKey,
  secretKeyCheck,
} from '../../src/storage/secret-key.ts';
import { statement } from '../../src/storage/sql.ts';
import { freshDatabase, migratedDatabase, testDatabase } from '../helpers/database.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { emptyDatabase } from '../helpers/empty-database.ts';

const databaseUrl = inject('databaseUrl');

const countMigrations = async () => {
  const directory = new URL('../../prisma/migrations/', import.meta.url);
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).length;
};

describe('the migrations', () => {
  test('are recorded, and applied once', async () => {
    const { prisma } = await testDatabase();
    const rows = await prisma.$queryRaw<{ migration_name: string; finished_at: Date | null }[]>`
      SELECT migration_name, finished_at FROM _prisma_migrations`;
    expect(rows).toHaveLength(await countMigrations());
    expect(rows.every(({ finished_at }) => finished_at !== null)).toBe(true);
    expect(new Set(rows.map(({ migration_name }) => migration_name)).size).toBe(rows.length);
  });

  test.skipIf(!databaseUrl)(
    'are applied once by two processes that start at the same time',
    async () => {
      const url = await freshDatabase(databaseUrl, 'together');
      const databases = await Promise.all([openPostgres(url), openPostgres(url)]);
      const [first] = databases;
      const rows = await first.prisma.$queryRaw<unknown[]>`SELECT 1 FROM _prisma_migrations`;
      expect(rows).toHaveLength(await countMigrations());
      await Promise.all(databases.map((database) => database.close()));
    },
  );
});

describe('a migration', () => {
  type Execute = SqlDriverAdapter['executeRaw'];

  /** The same adapter with another `executeRaw`. */
  const altered = (
    adapter: SqlDriverAdapterFactory,
    run: (query: SqlQuery, execute: Execute) => Promise<number>,
  ): SqlDriverAdapterFactory => ({
    ...adapter,
    connect: async () => {
      const connection = await adapter.connect();
      const execute = connection.executeRaw.bind(connection);
      return Object.assign(connection, { executeRaw: (query: SqlQuery) => run(query, execute) });
    },
  });
  const LATER_STATEMENT = 'CREATE TABLE "messages"';

  test.each([
    ['fails', 'SELECT 1 / 0'],
    // PGlite has no connection that could be cut.
    ...(databaseUrl
      ? [['loses its connection', 'SELECT pg_terminate_backend(pg_backend_pid())']]
      : []),
  ])('that %s changes nothing, and the next start repeats it', async (_how, statement) => {
    const { adapter, tables, unfinished } = await emptyDatabase();
    const broken = altered(adapter, ({ sql, ...query }, execute) =>
      execute({ ...query, sql: sql.replace(LATER_STATEMENT, `${statement}; ${LATER_STATEMENT}`) }),
    );
    await expect(applyMigrations(broken)).rejects.toThrow(/^the migration \w+_foundation cannot/);
    expect(await tables()).toEqual(['_prisma_migrations']);
    expect(await unfinished()).toHaveLength(1);
    expect(await applyMigrations(adapter)).toHaveLength(await countMigrations());
    expect(await unfinished()).toEqual([]);
    expect(await applyMigrations(adapter)).toEqual([]);
  });

  test('takes no lock and writes nothing if all migrations are applied', async () => {
    const { adapter } = await emptyDatabase();
    await applyMigrations(adapter);
    const readOnly = altered(adapter, async ({ sql }) => {
      throw new Error(`The start executed: ${sql}`);
    });
    expect(await applyMigrations(readOnly)).toEqual([]);
  });

  test('is recorded in its own transaction, so that a lost response does not matter', async () => {
    const { adapter } = await emptyDatabase();
    const silent = altered(adapter, async (query, execute) => {
      const answer = await execute(query);
      if (query.sql.includes(LATER_STATEMENT)) throw new Error('The answer is lost.');
      return answer;
    });
    await expect(applyMigrations(silent)).rejects.toThrow('The answer is lost.');
    expect(await applyMigrations(adapter)).toHaveLength((await countMigrations()) - 1);
  });

  test('keeps the background runs of an earlier version, which used pg-boss', async () => {
    const { adapter, query } = await emptyDatabase();
    const stopped = altered(adapter, ({ sql, ...query }, execute) =>
      execute({ ...query, sql: sql.replace('DROP SCHEMA IF EXISTS "pgboss"', 'SELECT 1 / 0') }),
    );
    await expect(applyMigrations(stopped)).rejects.toThrow(/_queue_in_runs cannot be applied/);
    await query('CREATE SCHEMA pgboss');
    await query('CREATE TABLE pgboss.job (id int)');
    await query(`INSERT INTO accounts (id, name, plan) VALUES ('acc_1', 'Tenant', 'FREE')`);
    await query(`INSERT INTO bots (id, account_id, name) VALUES ('bot_1', 'acc_1', 'Bot')`);
    await query(`
      INSERT INTO runs (id, bot_id, environment, kind, channel, input, status, background, attempt)
      SELECT id, 'bot_1', 'PRODUCTION', 'EXECUTE', 'API', 'Hi', status::"RunStatus", background, attempt
      FROM (VALUES
        ('run_1', 'QUEUED', true, 0), ('run_2', 'QUEUED', true, 1), ('run_3', 'RUNNING', true, 1),
        ('run_4', 'RUNNING', false, 1)
      ) AS earlier (id, status, background, attempt)`);
    expect(await applyMigrations(adapter)).toContainEqual(expect.stringMatching(/_queue_in_runs$/));
    expect(
      await query(`
        SELECT id || ' ' || COALESCE(account_id, 'none') || ' ' || COALESCE((available_at <= now())::text, 'at once')
        FROM runs ORDER BY id`),
    ).toEqual([
      'run_1 acc_1 at once',
      'run_2 acc_1 true',
      'run_3 acc_1 true',
      'run_4 none at once',
    ]);
    expect(await query(`SELECT 1 FROM pg_namespace WHERE nspname = 'pgboss'`)).toEqual([]);
  });

  test('that an earlier version left incomplete is refused with the database’s error', async () => {
    const { adapter, query, tables, unfinished } = await emptyDatabase();
    await query(`CREATE TYPE "Plan" AS ENUM ('FREE')`);
    for (let start = 0; start < 2; start += 1) {
      await expect(applyMigrations(adapter)).rejects.toThrow(
        /^the migration \w+_foundation cannot be applied: type "Plan" already exists$/,
      );
      expect(await tables()).toEqual(['_prisma_migrations']);
      expect(await unfinished()).toHaveLength(1);
    }
  });
});

describe('a time', () => {
  test.skipIf(!databaseUrl)(
    'is the same for all clients of a database in another time zone',
    async () => {
      const url = await freshDatabase(databaseUrl, 'zone');
      const name = new URL(url).pathname.slice(1);
      const first = await openPostgres(url);
      await first.prisma.$executeRawUnsafe(`ALTER DATABASE ${name} SET timezone = 'Asia/Kolkata'`);
      await first.close();
      const { prisma, close } = await openPostgres(url);
      const createdAt = new Date('2026-03-01T10:00:00.123Z');
      const account = await prisma.account.create({
        data: { id: 'acc_x', name: 'x', plan: 'FREE', createdAt },
      });
      const rows = await prisma.$queryRaw`
      SELECT (extract(epoch FROM created_at) * 1000)::float8 AS at FROM accounts`;
      expect(rows).toEqual([{ at: createdAt.getTime() }]);
      expect(account.createdAt).toEqual(createdAt);
      await close();
    },
  );
});

describe('the database URL', () => {
  test.skipIf(!databaseUrl)('may contain options', async () => {
    const url = new URL(await freshDatabase(databaseUrl, 'options'));
    url.searchParams.set('options', '-c work_mem=16MB');
    const database = await openPostgres(url.href);
    const show = async (name: string) => (await database.sql(statement(`SHOW ${name}`), []))[0];
    expect(await show('work_mem')).toEqual({ work_mem: '16MB' });
    expect(await show('TimeZone')).toEqual({ TimeZone: 'UTC' });
    expect(await show('plan_cache_mode')).toEqual({ plan_cache_mode: 'force_generic_plan' });
    await database.close();
  });

  test.skipIf(!databaseUrl)(
    'limits idle transactions, so that a hanging process releases its locks',
    async () => {
      const { prisma, sql, close } = await openPostgres(
        await freshDatabase(databaseUrl, 'hanging'),
      );
      const limit = [{ idle_in_transaction_session_timeout: '5s' }];
      const show = 'SHOW idle_in_transaction_session_timeout';
      expect(await sql(statement(show), [])).toEqual(limit);
      expect(await prisma.$queryRawUnsafe(show)).toEqual(limit);
      await close();
    },
  );
});

describe('the first start', () => {
  test('creates the operator’s account, its key and the demo bot, once', async () => {
    const database = await migratedDatabase('seed');
    const key = makeApiKey();
    const answers = await Promise.all([
      seed(database.prisma, 'check', key),
      seed(database.prisma, 'check', key),
    ]);
    expect(new Set(answers)).toEqual(new Set([key, null]));
    expect(await seed(database.prisma, 'check')).toBeNull();
    expect(await database.prisma.account.findMany({ include: { bots: true } })).toMatchObject([
      {
        plan: 'ENTERPRISE',
        requestsPerMinute: 6_000,
        requestsPerDay: 1_000_000,
        bots: [{ id: 'demo' }],
      },
    ]);
    expect((await database.prisma.apiKey.findFirstOrThrow()).scopes).toContain('OPERATOR');
    await database.close();
  });
});

describe('a lock', () => {
  test('is held by one process at a time, and can be taken again after its release', async () => {
    const path = join(await temporaryDirectory(), 'lock');
    const lock = acquireLock(path);
    expect(lock).not.toBeNull();
    expect(acquireLock(path)).toBeNull();
    lock?.release();
    const again = acquireLock(path);
    expect(again).not.toBeNull();
    again?.release();
  });
});

describe('the secret key', () => {
  test('is generated once for a data directory', async () => {
    const directory = await temporaryDirectory();
    const key = await generatedSecretKey(directory);
    expect(key).toHaveLength(32);
    expect(await generatedSecretKey(directory)).toEqual(key);
  });

  test('that is damaged is reported, and not replaced', async () => {
    const directory = await temporaryDirectory();
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'secret.key'), 'damaged');
    await expect(generatedSecretKey(directory)).rejects.toThrow(/secret\.key does not hold/);
    expect(await readFile(join(directory, 'secret.key'), 'utf8')).toBe('damaged');
  });

  test('is distinguished from a wrong one', async () => {
    const { prisma } = await testDatabase();
    const [right, wrong] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await prisma.installation.deleteMany();
    await assertSecretKey(prisma, [wrong]);
    await prisma.installation.create({ data: { secretKeyCheck: secretKeyCheck(right) } });
    await assertSecretKey(prisma, [wrong, right]);
    await expect(assertSecretKey(prisma, [wrong])).rejects.toThrow(/^PARLEY_SECRET_KEY is not/);
    await prisma.installation.deleteMany();
  });
});
