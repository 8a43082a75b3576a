import { describe, expect, inject, test } from 'vitest';
import { isOutage } from '../../src/errors/outage.ts';
import { statement } from '../../src/storage/sql.ts';
import { startApp } from '../helpers/app.ts';
import { hold, untilWaiting } from '../helpers/locks.ts';
import { linkPostgres } from '../helpers/postgres.ts';

const SELECT_ONE = statement('SELECT 1 AS one FROM json_to_record($1) AS asked (key text)');
const LOCKED = statement(
  'SELECT pg_advisory_xact_lock(815)::text FROM json_to_record($1) AS asked (key text)',
);
/** Far shorter than the statement limit, which a test cannot wait for. */
const options = { checkEveryMs: 20 };

describe.skipIf(!inject('databaseUrl'))('PostgreSQL', () => {
  test('that stops responding is abandoned, and used again after it recovers', async () => {
    const link = await linkPostgres(options);
    const { prisma, sql } = link.database;
    const runEach = () => [
      sql(SELECT_ONE, ['{}']),
      prisma.owner.count(),
      prisma.$queryRaw`SELECT 1`,
    ];
    await Promise.all(runEach());
    link.stall();
    for (const answer of await Promise.allSettled(runEach())) {
      const reason = answer.status === 'rejected' ? answer.reason : undefined;
      expect(isOutage(reason)).toBe(true);
      expect(reason).not.toMatchObject({ message: 'Query read timeout' });
    }
    link.restore();
    await Promise.all(runEach());
  });

  test('that is only slow is not abandoned', async () => {
    const link = await linkPostgres(options);
    const { prisma, sql } = link.database;
    const free = await hold(prisma, (tx) => tx.$executeRaw`SELECT pg_advisory_xact_lock(815)`);
    const slow = sql(LOCKED, ['{}']);
    await untilWaiting(prisma, 1);
    const before = link.connectionAttempts();
    await expect.poll(link.connectionAttempts, { interval: 500 }).toBeGreaterThan(before + 2);
    await free();
    expect(await slow).toHaveLength(1);
  });

  test('that stops responding leads to a clear error', async () => {
    const link = await linkPostgres(options);
    const app = await startApp({ database: link.database });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    link.stall();
    const answer = await fetch(`${app.url}/v1/bots/${bot}/runs`, { headers: tenant.headers });
    expect(answer.status).toBe(500);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('internal_error');
    expect(error.message).toContain('Try again in a few seconds.');
    link.restore();
  });
});
