import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';
import type { ApiKey, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { moment } from '../storage/moment.ts';

/** Polling interval for watched keys and sessions. A notification may be lost, but an end must take effect within a second. */
const POLL_EVERY_MS = 500;

/** A watched key or console session. A session token has the hash of its issuer's key, but expires earlier. */
type Watched = Pick<ApiKey, 'hash' | 'expiresAt'> & Partial<Pick<ApiKey, 'narrowedAt'>>;

/**
 * Watchers that are notified when a key or console session ends. A key is revoked, expires, loses a right, or is deleted,
 * or its account is suspended. A session expires or is signed out.
 */
export type KeyWatchers = {
  /** @returns a function that removes the watcher. */
  add(key: Watched, ended: () => void): () => void;
  /** Notifies the watchers of an ended key or session, by its hash. */
  end(hash: string): void;
  /** Polls all watched hashes with one query, until it is disposed of. Nothing happens while none is watched. */
  start(): AsyncDisposable;
};

type Watcher = Omit<Watched, 'hash'> & { ended: () => void };

/** A watched key or console session that has ended, or a key that once lost a right. */
export type Changed = Omit<Watched, 'expiresAt'> & { hasEnded: boolean };

export function createKeyWatchers({
  what,
  findChanged,
  log,
  now = Date.now,
}: {
  /** Names the watched things in log lines: a plural noun. */
  what: string;
  /** Finds the changed keys or sessions among these hashes. */
  findChanged(hashes: string[]): Promise<Changed[]>;
  log: Log;
  now?: (() => number) | undefined;
}): KeyWatchers {
  const watchers = new Map<string, Set<Watcher>>();
  const hasWork = () => watchers.size > 0;
  let tasks: PeriodicTask[] = [];

  const end = (hash: string) => {
    for (const { ended } of [...(watchers.get(hash) ?? [])]) ended();
  };

  const endExpired = () => {
    for (const { expiresAt, ended } of [...watchers.values()].flatMap((those) => [...those])) {
      if (expiresAt && expiresAt.getTime() <= now()) ended();
    }
  };

  const endChanged = async () => {
    for (const { hash, narrowedAt, hasEnded } of await findChanged([...watchers.keys()])) {
      if (hasEnded) end(hash);
      for (const watcher of [...(watchers.get(hash) ?? [])]) {
        if (watcher.narrowedAt?.getTime() !== narrowedAt?.getTime()) watcher.ended();
      }
    }
  };

  return {
    end,

    add({ hash, expiresAt, narrowedAt }, ended) {
      const watcher = { expiresAt, narrowedAt, ended };
      const those = watchers.get(hash) ?? new Set();
      watchers.set(hash, those.add(watcher));
      for (const task of tasks) task.resume();
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(hash) === those) watchers.delete(hash);
      };
    },

    start() {
      const stack = new AsyncDisposableStack();
      const options = { everyMs: POLL_EVERY_MS, hasWork };
      const reporting = { log, what: `The poll of the watched ${what}` };
      tasks = [
        // A separate task, so that watched keys and sessions expire in time while the database is slow.
        stack.use(startPeriodic(endExpired, options)),
        stack.use(startPeriodic(endChanged, { ...options, ...reporting })),
      ];
      return stack;
    },
  };
}

/** Finds the keys among these hashes that have ended or once lost a right. */
export function findChangedKeys(
  prisma: PrismaClient,
  hashes: string[],
  now: number,
): Promise<Changed[]> {
  return prisma.$queryRaw<Changed[]>`
    SELECT watched.hash, narrowed_at AS "narrowedAt",
      key.id IS NULL OR revoked_at IS NOT NULL OR suspended_at IS NOT NULL
        OR COALESCE(expires_at <= ${moment(now)}, false) AS "hasEnded"
    FROM unnest(${hashes}::text[]) AS watched(hash)
      LEFT JOIN api_keys AS key ON key.hash = watched.hash
      LEFT JOIN accounts ON accounts.id = key.account_id
    WHERE key.id IS NULL OR revoked_at IS NOT NULL OR suspended_at IS NOT NULL
      OR expires_at <= ${moment(now)} OR narrowed_at IS NOT NULL`;
}
