import { shareCall } from '../../async/share-call.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';

/** The queue of background runs, over all processes. */
export type QueueDepth = {
  depth: number;
  /** Age of the oldest queued run; 0 if the queue is empty. */
  oldestSeconds: number;
};

/** Reads the length of the queue. Concurrent calls share one query. */
export function createQueueDepth({ prisma }: { prisma: PrismaClient }): () => Promise<QueueDepth> {
  return shareCall(async () => {
    const [row] = await prisma.$queryRaw<QueueDepth[]>`
      SELECT count(*)::int AS depth,
        -- A time of creation may be ahead of now(): it is rounded, or a later transaction has set it.
        greatest(extract(epoch FROM now() - min(created_at)), 0)::float AS "oldestSeconds"
      FROM runs WHERE status = 'QUEUED'`;
    return row ?? { depth: 0, oldestSeconds: 0 };
  });
}
