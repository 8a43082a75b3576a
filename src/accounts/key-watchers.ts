import type { ApiKey, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

/** Polling interval for watched keys. A revocation's notification may be lost, but must take effect within a second. */
const LOOK_EVERY_MS = 500;

/** A watched key. A session token has the hash of its issuer's key, but expires earlier. */
type Watched = Pick<ApiKey, 'hash' | 'expiresAt'>;

/** Watchers that are notified when a key is revoked or expires. */
export type KeyWatchers = {
  /** @returns a function that removes the watcher. */
  add(key: Watched, ended: () => void): () => void;
  /** Notifies the watchers of a revoked key, by its hash. */
  end(hash: string): void;
};

type Watcher = { expiresAt: Date | null; ended: () => void };

/** Polls all watched keys with one query, as long as there are watchers. */
export function createKeyWatchers({
  prisma,
  log,
  now,
}: {
  prisma: PrismaClient;
  log: Log;
  now: () => number;
}): KeyWatchers {
  const watchers = new Map<string, Set<Watcher>>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  const end = (hash: string) => {
    for (const { ended } of [...(watchers.get(hash) ?? [])]) ended();
  };

  const endExpired = () => {
    for (const { expiresAt, ended } of [...watchers.values()].flatMap((those) => [...those])) {
      if (expiresAt && expiresAt.getTime() <= now()) ended();
    }
  };

  const endRevoked = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const revoked = await prisma.apiKey.findMany({
        where: { hash: { in: [...watchers.keys()] }, revokedAt: { not: null } },
        select: { hash: true },
      });
      for (const { hash } of revoked) end(hash);
    } catch (err) {
      log.error({ err }, 'Failed to poll the watched API keys.');
    } finally {
      isLooking = false;
    }
  };

  const look = () => {
    endExpired();
    if (watchers.size > 0) return endRevoked();
    clearInterval(timer);
    timer = undefined;
  };

  return {
    end,

    add({ hash, expiresAt }, ended) {
      const watcher = { expiresAt, ended };
      const those = watchers.get(hash) ?? new Set();
      watchers.set(hash, those.add(watcher));
      timer ??= setInterval(look, LOOK_EVERY_MS).unref();
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(hash) === those) watchers.delete(hash);
      };
    },
  };
}
