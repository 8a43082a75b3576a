import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';

/** How often watched keys are looked at: a word that one was revoked may be lost, and of an expiry there is none. */
const LOOK_EVERY_MS = 1_000;

/** Those who wait for keys to end, by the keys' hashes. */
export type KeyWatchers = {
  /** @returns ends the waiting. */
  add(hash: string, ended: () => void): () => void;
  /** Tells them that a key has ended. */
  end(hash: string): void;
};

/** While anybody waits, it looks at all watched keys together, once in a while. */
export function createKeyWatchers({
  prisma,
  log,
}: {
  prisma: PrismaClient;
  log: Log;
}): KeyWatchers {
  const watchers = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  const end = (hash: string) => {
    for (const ended of [...(watchers.get(hash) ?? [])]) ended();
  };

  const look = async () => {
    const ended = await prisma.apiKey.findMany({
      where: {
        hash: { in: [...watchers.keys()] },
        OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: new Date() } }],
      },
      select: { hash: true },
    });
    for (const { hash } of ended) end(hash);
  };

  const lookLater = () => {
    timer = setTimeout(async () => {
      await look().catch((err: unknown) => log.error({ err }, 'Watched keys cannot be read.'));
      if (watchers.size > 0) lookLater();
      else timer = undefined;
    }, LOOK_EVERY_MS).unref();
  };

  return {
    end,

    add(hash, ended) {
      const those = watchers.get(hash) ?? new Set();
      watchers.set(hash, those.add(ended));
      if (timer === undefined) lookLater();
      return () => {
        those.delete(ended);
        if (those.size === 0 && watchers.get(hash) === those) watchers.delete(hash);
      };
    },
  };
}
