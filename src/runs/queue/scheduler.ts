import { LRUCache } from 'lru-cache';
import { type Plan, Prisma } from '../../generated/prisma/client.ts';
import { PLANS } from '../../vocabulary/plans.ts';

/** The limits of the process that takes runs. */
export type TakeOptions = {
  /** The most runs to take. */
  free: number;
  /**
   * The background runs of each account that this process executes. An account with as many as are still free gets no
   * further one here, so that other accounts find a place.
   */
  held: ReadonlyMap<string, number>;
  /** Whether a run whose process died in an earlier attempt may start in this process. */
  takesRetries: boolean;
};

/** Chooses the next queued runs and assigns them to an owner. */
export type Scheduler = {
  /**
   * Takes runs one after the other: each from the account with the fewest active background runs, round-robin among equal
   * accounts. Within an account, takes the oldest run of each bot, round-robin. A run whose process died has priority
   * once its delay has passed, one per account at a time. No account exceeds its plan's `backgroundRuns` limit.
   *
   * @param tx gets a lock that lets one process choose at a time, so that it sees all active runs. Keep it short.
   */
  take(tx: Prisma.TransactionClient, ownerId: string, options: TakeOptions): Promise<Taken[]>;
};

/** The queue's advisory lock: "prlq" in ASCII. */
const LOCK = 0x70726c71;
/** The most accounts with a remembered last bot. An evicted account restarts at its first bot. */
const MAX_CURSORS = 1_000;

const FIRST_ATTEMPT = Prisma.sql`status = 'QUEUED' AND attempt = 0`;

type Account = { accountId: string; plan: Plan };
type Active = Account & { count: number; hasRetry: boolean };
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

  /** A loose index scan: one step per account, regardless of the number of its queued runs. Those to serve first come first. */
  const findWaiting = (tx: Prisma.TransactionClient, active: Active[], limit: number) => {
    const counts = Object.fromEntries(active.map(({ accountId, count }) => [accountId, count]));
    return tx.$queryRaw<Account[]>`
      WITH RECURSIVE waiting AS (
        SELECT min(account_id) AS account_id FROM runs WHERE ${FIRST_ATTEMPT}
        UNION ALL
        SELECT (SELECT min(account_id) FROM runs WHERE ${FIRST_ATTEMPT} AND account_id > waiting.account_id)
        FROM waiting WHERE account_id IS NOT NULL
      )
      SELECT account_id AS "accountId", plan FROM waiting JOIN accounts ON accounts.id = account_id
      ORDER BY COALESCE((${JSON.stringify(counts)}::jsonb ->> account_id)::int, 0),
        account_id <= ${lastAccount}, account_id
      LIMIT ${limit}`;
  };

  return {
    async take(tx, ownerId, { free, held, takesRetries }) {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
      const active = await findActive(tx);
      const counts = new Map(active.map(({ accountId, count }) => [accountId, count]));
      const here = new Map(held);
      const taken: Taken[] = [];

      const isFull = ({ accountId, plan }: Account) =>
        (counts.get(accountId) ?? 0) >= PLANS[plan].backgroundRuns ||
        (here.get(accountId) ?? 0) >= free - taken.length;

      const add = (run: Taken) => {
        for (const map of [counts, here]) map.set(run.accountId, (map.get(run.accountId) ?? 0) + 1);
        taken.push(run);
      };

      if (takesRetries) {
        const refused = active.filter((account) => account.hasRetry || isFull(account));
        const retry = await begin(tx, ownerId, retryOf(refused.map(({ accountId }) => accountId)));
        if (retry) add(retry);
      }
      // A full account does not hide one that waits behind it.
      const full = active.filter(isFull).length;
      const waiting = new Set(await findWaiting(tx, active, full + 2 * free));
      /** The account with the fewest active runs; among equal ones, the one that is next after the last served. */
      const nextAccount = () => {
        const distance = ({ accountId }: Account) =>
          [counts.get(accountId) ?? 0, accountId <= lastAccount ? 1 : 0, accountId] as const;
        return [...waiting]
          .filter((account) => !isFull(account))
          .reduce<Account | undefined>(
            (best, one) => (best && !isBefore(distance(one), distance(best)) ? best : one),
            undefined,
          );
      };
      while (taken.length < free) {
        const next = nextAccount();
        if (!next) break;
        const after = lastBots.get(next.accountId) ?? '';
        const { accountId } = next;
        const run = await begin(tx, ownerId, oldestOf(accountId, after), oldestOf(accountId, ''));
        if (run) {
          lastAccount = accountId;
          lastBots.set(accountId, run.botId);
          add(run);
        } else waiting.delete(next);
      }
      return taken;
    },
  };
}

type Rank = readonly [count: number, isServed: number, accountId: string];

function isBefore(one: Rank, other: Rank): boolean {
  const place = one.findIndex((value, index) => value !== other[index]);
  const [mine = 0, theirs = 0] = [one[place], other[place]];
  return place >= 0 && mine < theirs;
}
