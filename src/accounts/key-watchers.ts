import type { ApiKey, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import { startPeriodic } from '../periodic.ts';

/** Polling interval for watched keys. A revocation's notification may be lost, but must take effect within a second. */
const POLL_EVERY_MS = 500;

/** A watched key. A session token has the hash of its issuer's key, but expires earlier. */
type Watched = Pick<ApiKey, 'hash' | 'expiresAt'>;

/** Watchers that are notified when a key is revoked or expires. */
export type KeyWatchers = {
  /** @returns a function that removes the watcher. */
  add(key: Watched, ended: () => void): () => void;
  /** Notifies the watchers of a revoked key, by its hash. */
  end(hash: string): void;
  /** Polls all watched keys with one query, until it is disposed of. */
  start(): AsyncDisposable;
};

type Watcher = { expiresAt: Date | null; ended: () => void };

export function createKeyWatchers({
  prisma,
  log,
  now = Date.now,
}: {
  prisma: PrismaClient;
  log: Log;
  now?: (() => number) | undefined;
}): KeyWatchers {
  const watchers = new Map<string, Set<Watcher>>();

  const end = (hash: string) => {
    for (const { ended } of [...(watchers.get(hash) ?? [])]) ended();
  };

  const endExpired = () => {
    for (const { expiresAt, ended } of [...watchers.values()].flatMap((those) => [...those])) {
      if (expiresAt && expiresAt.getTime() <= now()) ended();
    }
  };

  const endRevoked = async () => {
    if (watchers.size === 0) return;
    const revoked = await prisma.apiKey.findMany({
      where: { hash: { in: [...watchers.keys()] }, revokedAt: { not: null } },
      select: { hash: true },
    });
    for (const { hash } of revoked) end(hash);
  };

  return {
    end,

    add({ hash, expiresAt }, ended) {
      const watcher = { expiresAt, ended };
      const those = watchers.get(hash) ?? new Set();
      watchers.set(hash, those.add(watcher));
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(hash) === those) watchers.delete(hash);
      };
    },

    start() {
      const stack = new AsyncDisposableStack();
      // A task of its own, so that keys expire in time while the database is slow.
      stack.use(startPeriodic(endExpired, { everyMs: POLL_EVERY_MS }));
      const what = 'The poll of the watched API keys';
      stack.use(startPeriodic(endRevoked, { everyMs: POLL_EVERY_MS, log, what }));
      return stack;
    },
  };
}
