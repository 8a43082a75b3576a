import { LRUCache } from 'lru-cache';
import { CONCURRENCY_LIMITS } from '../../accounts/concurrency-limit.ts';
import { type Plan, Prisma } from '../../generated/prisma/client.ts';

/** The limits of the process that takes a run. */
export type TakeOptions = {
  /** Accounts whose runs must not start in this process now. */
  fullAccounts: readonly string[];
  /** Whether a run whose process died in an earlier attempt may start in this process. */
  takesRetries: boolean;
};

/** Chooses the next queued run and assigns it to an owner. */
export type Scheduler = {
  /**
   * Takes a run of the account with the fewest active background runs, round-robin among equal accounts. Within an
   * account, takes the oldest run of each bot, round-robin. A run whose process died has priority once its delay has
   * passed, one per account at a time. No account exceeds its plan's `backgroundRuns` limit.
   *
   * @param tx gets a lock that lets one process choose at a time, so that it sees all active runs. Keep it short.
   * @returns `undefined` if no run may start.
   */
  take(
    tx: Prisma.TransactionClient,
    ownerId: string,
    options: TakeOptions,
  ): Promise<{ id: string; accountId: string } | undefined>;
};

/** The queue's advisory lock: "prlq" in ASCII. */
const LOCK = 0x70726c71;
/** The most accounts with a remembered last bot. An evicted account restarts at its first bot. */
const MAX_CURSORS = 1_000;

const FIRST_ATTEMPT = Prisma.sql`status = 'QUEUED' AND attempt = 0`;

type Active = { accountId: string; plan: Plan; count: number; hasRetry: boolean };
type Taken = { id: string; accountId: string; botId: string };

export function createScheduler(): Scheduler {
  /** Round-robin cursors of this process: the account served last, and the bot served last per account. */
  let lastAccount = '';
  const lastBots = new LRUCache<string, string>({ max: MAX_CURSORS });

  const findActive = (tx: Prisma.TransactionClient) => tx.$queryRaw<Active[]>`
    SELECT account_id AS "accountId", plan, count(*)::int AS count, bool_or(attempt > 1) AS "hasRetry"
    FROM runs JOIN accounts ON accounts.id = account_id
    WHERE status = 'RUNNING' AND background
    GROUP BY account_id, plan`;

  /** Skips rows that are being cancelled or deleted. A rating locks only the key of its run, which changes nothing here. */
  const begin = async (tx: Prisma.TransactionClient, ownerId: string, ...waiting: Prisma.Sql[]) => {
    const firstOf = waiting.map(
      (which) =>
        Prisma.sql`(SELECT id FROM runs WHERE ${which} LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)`,
    );
    const [taken] = await tx.$queryRaw<Taken[]>`
      UPDATE runs SET status = 'RUNNING', owner_id = ${ownerId}, started_at = now(), attempt = attempt + 1
      WHERE id = COALESCE(${Prisma.join(firstOf)})
      RETURNING id, account_id AS "accountId", bot_id AS "botId"`;
    return taken;
  };

  const retryOf = (fullAccounts: string[]) => Prisma.sql`
    status = 'QUEUED' AND attempt > 0 AND available_at <= now() AND account_id <> ALL(${fullAccounts})
    ORDER BY available_at`;

  const oldestOf = (accountId: string, after: string) => Prisma.sql`
    ${FIRST_ATTEMPT} AND account_id = ${accountId} AND bot_id > ${after} ORDER BY bot_id, id`;

  /** A loose index scan: one step per account, regardless of the number of its queued runs. */
  const nextAccount = async (
    tx: Prisma.TransactionClient,
    fullAccounts: string[],
    active: Active[],
  ) => {
    const counts = Object.fromEntries(active.map(({ accountId, count }) => [accountId, count]));
    const [next] = await tx.$queryRaw<{ accountId: string }[]>`
      WITH RECURSIVE waiting AS (
        SELECT min(account_id) AS account_id FROM runs WHERE ${FIRST_ATTEMPT}
        UNION ALL
        SELECT (SELECT min(account_id) FROM runs WHERE ${FIRST_ATTEMPT} AND account_id > waiting.account_id)
        FROM waiting WHERE account_id IS NOT NULL
      )
      SELECT account_id AS "accountId" FROM waiting
      WHERE account_id IS NOT NULL AND account_id <> ALL(${fullAccounts})
      ORDER BY COALESCE((${JSON.stringify(counts)}::jsonb ->> account_id)::int, 0),
        account_id <= ${lastAccount}, account_id
      LIMIT 1`;
    return next?.accountId;
  };

  return {
    async take(tx, ownerId, { fullAccounts, takesRetries }) {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
      const active = await findActive(tx);
      const idsOf = (those: Active[]) => those.map(({ accountId }) => accountId);
      const full = [
        ...fullAccounts,
        ...idsOf(
          active.filter(({ plan, count }) => count >= CONCURRENCY_LIMITS[plan].backgroundRuns),
        ),
      ];
      if (takesRetries) {
        const retrying = idsOf(active.filter(({ hasRetry }) => hasRetry));
        const retry = await begin(tx, ownerId, retryOf([...full, ...retrying]));
        if (retry) return retry;
      }
      for (;;) {
        const accountId = await nextAccount(tx, full, active);
        if (accountId === undefined) return undefined;
        const after = lastBots.get(accountId) ?? '';
        const taken = await begin(tx, ownerId, oldestOf(accountId, after), oldestOf(accountId, ''));
        if (taken) {
          lastAccount = accountId;
          lastBots.set(accountId, taken.botId);
          return taken;
        }
        full.push(accountId);
      }
    },
  };
}
