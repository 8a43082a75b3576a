import { type ConstructorOptions, fromPrisma, PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';

/**
 * The line of runs that wait to be done, in the database: pg-boss's, in the schema `pgboss`. A job stands for a run
 * that waits and for nothing else. It is written in the transaction that has the run wait, and taken out in the one
 * that takes the run up, so that no job is ever left at work: whose runs they are is said by the runs themselves.
 */
export type Jobs = {
  /** Adds jobs at the end of the line, in the caller's transaction. */
  add(tx: Prisma.TransactionClient, runIds: string[]): Promise<void>;
  /**
   * Takes the first job out of the line, in the caller's transaction; those that others are taking are passed over.
   *
   * @returns its run.
   */
  take(tx: Prisma.TransactionClient): Promise<string | undefined>;
};

const QUEUE = 'runs';
/** Nothing of pg-boss's own goes on in the background: no job is ever at work, late or over. */
const QUIET = { schema: 'pgboss', supervise: false, schedule: false } as const;

const jobData = z.object({ runId: z.string() });

/** Makes pg-boss's tables, or brings them to its version; safe for several processes at once. */
export async function installJobs(connection: ConstructorOptions): Promise<void> {
  const boss = new PgBoss({ ...connection, ...QUIET, max: 1 });
  const failed = Promise.withResolvers<never>();
  boss.on('error', failed.reject);
  try {
    await Promise.race([boss.start().then(() => boss.createQueue(QUEUE)), failed.promise]);
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** On a database with `installJobs` done. */
export async function createJobs({ prisma }: { prisma: PrismaClient }): Promise<Jobs> {
  // Never started: it is asked for what is to be said to the database, and has no timers of its own.
  const boss = new PgBoss({ ...QUIET, db: fromPrisma(prisma) });
  // It looks up the queue once, by itself. Inside a transaction, the one connection of PGlite would wait for itself.
  await boss.fetch(QUEUE, { db: { executeSql: async () => ({ rows: [] }) } });

  return {
    async add(tx, runIds) {
      const jobs = runIds.map((runId) => ({ data: { runId } satisfies z.infer<typeof jobData> }));
      if (jobs.length > 0) await boss.insert(QUEUE, jobs, { db: fromPrisma(tx) });
    },

    async take(tx) {
      const db = fromPrisma(tx);
      const [job] = await boss.fetch(QUEUE, { db });
      if (job === undefined) return undefined;
      await boss.deleteJob(QUEUE, job.id, { db });
      return jobData.parse(job.data).runId;
    },
  };
}
