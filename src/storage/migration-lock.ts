import { setTimeout } from 'node:timers/promises';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import { startDeadline } from '../async/deadline.ts';
import { execute } from './migration-records.ts';
import { POSTGRES_ADAPTER } from './migration-script.ts';

/**
 * Prisma's own advisory lock, in a transaction that stays open: behind a pooler, a lock of a session would outlive this
 * process. It is polled, because an index that is created concurrently waits for the statements of all other sessions.
 */
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(72707369)';
const MAY_REST = 'SET LOCAL idle_in_transaction_session_timeout = 0';
const LOCK_POLL_MS = 250;
/** Limits the wait for another migrating process, which may create indexes of large tables. */
const LOCK_LIMIT_MS = 15 * 60 * 1_000;

/**
 * Waits for the lock of the migrations, and holds it until it is disposed of. The embedded database needs none: no
 * other process can use it.
 *
 * @throws Error if another process migrates for longer than 15 minutes.
 */
export async function lockMigrations(connection: SqlDriverAdapter): Promise<AsyncDisposable> {
  if (connection.adapterName !== POSTGRES_ADAPTER) return { [Symbol.asyncDispose]: async () => {} };
  using deadline = startDeadline(LOCK_LIMIT_MS, {
    reason: () => new Error('another process has been migrating the database for 15 minutes'),
  });
  const transaction = await connection.startTransaction();
  await execute(transaction, MAY_REST);
  for (;;) {
    const { rows } = await transaction.queryRaw({ sql: TRY_LOCK, args: [], argTypes: [] });
    if (rows[0]?.[0] === true) return { [Symbol.asyncDispose]: () => rollBack(transaction) };
    await setTimeout(LOCK_POLL_MS, undefined, { signal: deadline.signal }).catch(async () => {
      await rollBack(transaction);
      throw deadline.signal.reason;
    });
  }
}

/** Prisma's adapter expects its caller to execute `ROLLBACK` before. */
async function rollBack(transaction: Transaction): Promise<void> {
  await execute(transaction, 'ROLLBACK');
  await transaction.rollback();
}
