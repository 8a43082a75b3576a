import { Prisma, type PrismaClient, type RunStatus } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import type { Jobs } from '../storage/jobs.ts';
import { isOwnerless } from '../storage/owner.ts';
import type { PubSub } from '../storage/pubsub.ts';
import type { TellOfRun } from './changes.ts';
import { MAX_ATTEMPTS, QUEUE_CHANNEL } from './queue.ts';

/** Looks for runs that have lost their owner, until it is closed. */
export type Recovery = { close(): Promise<void> };

const LOOK_EVERY_MS = 2_000;

const LOST = Prisma.raw(isOwnerless('runs.owner_id'));

type Lost = { id: string; botId: string; status: RunStatus };

/**
 * Ends the runs that no process works on any more: they are `FAILED`, with the code `interrupted`. Those of the queue
 * wait again instead, unless somebody wanted them stopped. A process that dies is taken out of the owners within 10
 * seconds (`storage/owner.ts`), and its runs are found with the next look.
 */
export function startRecovery({
  prisma,
  jobs,
  pubsub,
  tell,
  log,
}: {
  prisma: PrismaClient;
  jobs: Jobs;
  pubsub: PubSub;
  tell: TellOfRun;
  log: Log;
}): Recovery {
  const recover = () =>
    prisma.$transaction(async (tx) => {
      const lost = await tx.$queryRaw<Lost[]>`
        WITH lost AS (
          SELECT id, CASE
            WHEN background AND cancel_requested THEN 'CANCELLED'
            WHEN background AND attempt < ${MAX_ATTEMPTS} THEN 'QUEUED'
            ELSE 'FAILED'
          END AS becomes
          FROM runs
          WHERE status = 'RUNNING' AND ${LOST}
          FOR UPDATE SKIP LOCKED
        )
        UPDATE runs SET
          status = becomes::"RunStatus",
          error_code = CASE becomes WHEN 'FAILED' THEN 'interrupted' END,
          error_message = CASE becomes WHEN 'FAILED' THEN ${INTERRUPTED} END,
          finished_at = CASE WHEN becomes <> 'QUEUED' THEN now() END
        FROM lost WHERE runs.id = lost.id
        RETURNING runs.id, bot_id AS "botId", status`;
      await jobs.add(
        tx,
        lost.flatMap(({ id, status }) => (status === 'QUEUED' ? [id] : [])),
      );
      return lost;
    });

  const look = async () => {
    // Mostly there is none: a question is cheaper than a transaction.
    const [any] = await prisma.$queryRaw<unknown[]>`
      SELECT 1 FROM runs
      WHERE status = 'RUNNING' AND ${LOST}
      LIMIT 1`;
    if (any === undefined) return;
    for (const run of await recover()) tell(run);
    pubsub.publish(QUEUE_CHANNEL, '');
  };

  let looking: Promise<void> | undefined;
  const lookAgain = () => {
    looking ??= look()
      .catch((err: unknown) => log.error({ err }, 'Interrupted runs could not be looked for.'))
      .finally(() => {
        looking = undefined;
      });
  };
  lookAgain();
  const timer = setInterval(lookAgain, LOOK_EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** What a run says that lost its process. */
export const INTERRUPTED = 'The server was stopped while the run was at work.';
