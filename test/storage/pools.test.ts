import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, inject, test } from 'vitest';
import { openPostgres } from '../../src/storage/database.ts';
import { assertExactTimes } from '../../src/storage/moment.ts';
import { statement } from '../../src/storage/sql.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { testDatabase } from '../helpers/database.ts';

const databaseUrl = inject('databaseUrl');
const { prisma } = await testDatabase();

/** What PgBouncer answers to a setting that it does not know. */
const REFUSAL = Buffer.from(
  'SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0',
  'latin1',
);

/** The URL of this worker's database. */
async function ownUrl(): Promise<URL> {
  const [{ name = '' } = {}] = await prisma.$queryRaw<{ name: string }[]>`
    SELECT current_database() AS name`;
  return Object.assign(new URL(databaseUrl), { pathname: `/${name}` });
}

/**
 * PostgreSQL behind a proxy that refuses connections with settings.
 *
 * @param refuses decides by the first message of a connection.
 * @returns the URL of this worker's database.
 */
async function startPooler(
  refuses = (start: string) => /\0(options|statement_timeout)\0/.test(start),
): Promise<string> {
  const target = await ownUrl();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => {});
    near.once('data', (start) => {
      if (refuses(start.toString('latin1'))) {
        const head = Buffer.alloc(5);
        head.write('E', 'latin1');
        head.writeInt32BE(REFUSAL.length + 4, 1);
        near.end(Buffer.concat([head, REFUSAL]));
        return;
      }
      const far = connect(Number(target.port || 5432), target.hostname);
      sockets.add(far);
      far.on('error', () => near.destroy());
      far.write(start);
      near.pipe(far).pipe(near);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTheEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href;
}

describe.skipIf(!databaseUrl)('a pooler that refuses the settings of a connection', () => {
  test('gets no prepared statement, and each statement has its limits all the same', async () => {
    const database = await openPostgres(await startPooler());
    atTheEnd(database.close);
    const show = async (name: string) => (await database.sql(statement(`SHOW ${name}`), []))[0];
    expect(await show('statement_timeout')).toEqual({ statement_timeout: '30s' });
    expect(await show('plan_cache_mode')).toEqual({ plan_cache_mode: 'force_generic_plan' });
    expect(await show('TimeZone')).toEqual({ TimeZone: 'UTC' });
    const prepared = await database.sql(
      statement('SELECT count(*)::int AS count FROM pg_prepared_statements'),
      [],
    );
    expect(prepared).toEqual([{ count: 0 }]);
    expect(await database.prisma.$queryRawUnsafe('SHOW jit')).toEqual([{ jit: 'off' }]);
    const limit = await database.prisma.$transaction((tx) =>
      tx.$queryRawUnsafe('SHOW idle_in_transaction_session_timeout'),
    );
    expect(limit).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
  });
});

describe.skipIf(!databaseUrl)('the settings of PostgreSQL', () => {
  test('DATABASE_DIRECT_URL is where the migrations run, and an error names it', async () => {
    const pooler = await startPooler();
    const database = await openPostgres(pooler, { directUrl: (await ownUrl()).href });
    await database.ping();
    await database.close();
    const nowhere = 'postgresql://parley:hunter2@127.0.0.1:1/parley';
    const opening = openPostgres(pooler, { directUrl: nowhere });
    await expect(opening).rejects.toThrow(/^DATABASE_DIRECT_URL: .*127\.0\.0\.1:1/);
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test('migrations wait a minute for a locked table', async () => {
    const starts: string[] = [];
    const watched = await startPooler((start) => starts.push(start) === 0);
    const database = await openPostgres(watched);
    await database.close();
    expect(starts.filter((start) => start.includes('\0lock_timeout\x0060000\0'))).toHaveLength(1);
  });

  test('DATABASE_POOL_SIZE is the number of connections for ordinary statements', async () => {
    const { href } = await ownUrl();
    const database = await openPostgres(href, { poolSize: 3 });
    atTheEnd(database.close);
    const processes = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const rows = await database.prisma.$queryRaw<{ pid: number }[]>`
          SELECT pg_backend_pid() AS pid`;
        return rows[0]?.pid;
      }),
    );
    expect(new Set(processes).size).toBe(3);
  });
});

test.skipIf(!databaseUrl)('a session in another time zone than UTC stops the start', async () => {
  await prisma.$transaction(async (tx) => {
    await assertExactTimes(tx);
    await tx.$executeRaw`SET LOCAL TimeZone = 'Asia/Karachi'`;
    await expect(assertExactTimes(tx)).rejects.toThrow(
      /^DATABASE_URL: times would be stored wrong/,
    );
  });
});
