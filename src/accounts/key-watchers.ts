import type { ApiKey, PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

/** How often watched keys are looked at, so that an end is known within a second: a word of it may be lost. */
const LOOK_EVERY_MS = 500;

/** What is to be known of a key that somebody waits for. A session token's ends before the one that made it. */
type Watched = Pick<ApiKey, 'hash' | 'expiresAt'>;

/** Those who wait for keys to end. */
export type KeyWatchers = {
  /** @returns ends the waiting. */
  add(key: Watched, ended: () => void): () => void;
  /** Tells them that a key has ended, by its hash. */
  end(hash: string): void;
};

type Watcher = { expiresAt: Date | null; ended: () => void };

/** While anybody waits, it looks at all watched keys together, once in a while. */
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
      log.error({ err }, 'Watched keys cannot be read.');
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
