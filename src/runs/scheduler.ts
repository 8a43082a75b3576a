import { LRUCache } from 'lru-cache';
import { CONCURRENCY_LIMITS } from '../accounts/concurrency-limit.ts';
import { type Plan, Prisma } from '../generated/prisma/client.ts';

/** What a process leaves to others: what it has no slot for. */
export type TakeOptions = {
  /** Accounts of which no run is to begin here now. */
  fullAccounts: readonly string[];
  /** Whether a run may begin here whose process died in an earlier attempt. */
  takesRetries: boolean;
};

/** Chooses which run of the queue begins next, and marks it as begun by an owner. */
export type Scheduler = {
  /**
   * Takes the run of the account with the fewest active background runs, and in turn among those with as many; of an
   * account the oldest run of each bot in turn. A run whose process died comes first once its delay is over, and only one
   * of an account at a time. No account exceeds its plan's `backgroundRuns` limit.
   *
   * @param tx holds a lock that lets one process choose at a time: what it sees is all that is active. Keep it short.
   * @returns nothing where no run may begin.
   */
  take(
    tx: Prisma.TransactionClient,
    ownerId: string,
    options: TakeOptions,
  ): Promise<{ id: string; accountId: string } | undefined>;
};

/** Of the queue among the advisory locks of a database: "prlq" in ASCII. */
const LOCK = 0x70726c71;
/** So many accounts whose last bot is remembered. One that is forgotten begins with its first bot again. */
const MAX_CURSORS = 1_000;

const FIRST_ATTEMPT = Prisma.sql`status = 'QUEUED' AND attempt = 0`;

type Active = { accountId: string; plan: Plan; count: number; hasRetry: boolean };
type Taken = { id: string; accountId: string; botId: string };

export function createScheduler(): Scheduler {
  /** Where the turns stand: which account was served last here, and which bot of an account. */
  let lastAccount = '';
  const lastBots = new LRUCache<string, string>({ max: MAX_CURSORS });

  const findActive = (tx: Prisma.TransactionClient) => tx.$queryRaw<Active[]>`
    SELECT account_id AS "accountId", plan, count(*)::int AS count, bool_or(attempt > 1) AS "hasRetry"
    FROM runs JOIN accounts ON accounts.id = account_id
    WHERE status = 'RUNNING' AND background
    GROUP BY account_id, plan`;

  /** Locked rows are passed over: they are being cancelled or deleted. */
  const begin = async (tx: Prisma.TransactionClient, ownerId: string, ...waiting: Prisma.Sql[]) => {
    const firstOf = waiting.map(
      (which) => Prisma.sql`(SELECT id FROM runs WHERE ${which} LIMIT 1 FOR UPDATE SKIP LOCKED)`,
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

  /** Steps from account to account in the index, however many runs of each wait. */
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
