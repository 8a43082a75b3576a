import type { Look } from '../../coordination/looks.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import { isOwnerless } from '../../coordination/worker-lease.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { type EndedRun, type Observer, UNOBSERVED } from '../../observability/observer.ts';
import { foldProgress, HAS_PROGRESS } from '../life/progress.ts';
import type { NotifyOfRun } from '../record/changes.ts';
import { MAX_ATTEMPTS, QUEUE_CHANNEL } from './queue.ts';

/** The most runs that one answer finishes. */
const BATCH = 500;
/** The delay before the next attempt is this base to the power of the attempts so far. */
const RETRY_SECONDS = 5;

const IS_LOST = Prisma.sql`status = 'RUNNING' AND ${Prisma.raw(isOwnerless('runs.owner_id'))}`;

type Lost = { id: string; botId: string; status: 'QUEUED' | EndedRun['status'] } & Pick<
  EndedRun,
  'kind' | 'channel'
>;

/**
 * Finishes the runs of dead processes: they become `FAILED` with the code `interrupted`. A background run becomes `QUEUED`
 * instead, unless it was cancelled or had its last attempt. It may have crashed the process, so its next attempt waits 5
 * seconds, then 25, and `scheduler.ts` starts one such run per account at a time. Other processes detect a dead one within
 * 10 seconds (`coordination/worker-lease.ts`), and the one that detects it looks at once.
 */
export function createRecovery({
  prisma,
  pubsub,
  notify,
  observer = UNOBSERVED,
  log,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  notify: NotifyOfRun;
  observer?: Observer;
  log: Log;
}): Look {
  const find = async () => {
    const found = await prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM runs WHERE ${IS_LOST} LIMIT ${BATCH}`;
    return found.map(({ id }) => id);
  };

  const recover = (ids: string[]) => prisma.$queryRaw<Lost[]>`
    WITH lost AS (
      SELECT id, CASE
        WHEN background AND cancel_requested THEN 'CANCELLED'
        WHEN background AND attempt < ${MAX_ATTEMPTS} THEN 'QUEUED'
        ELSE 'FAILED'
      END AS becomes
      FROM runs
      WHERE id = ANY(${ids}) AND ${IS_LOST}
        -- The process of such a run is not dead, and the next look finds it again.
        AND NOT ${HAS_PROGRESS}
      FOR UPDATE SKIP LOCKED
    ), unanswered AS (
      UPDATE tool_calls SET status = 'UNKNOWN' FROM lost WHERE run_id = lost.id AND status = 'RUNNING'
    )
    UPDATE runs SET
      status = becomes::"RunStatus",
      available_at = CASE becomes WHEN 'QUEUED' THEN now() + make_interval(secs => ${RETRY_SECONDS} ^ attempt) END,
      error_code = CASE becomes WHEN 'FAILED' THEN 'interrupted' END,
      error_message = CASE WHEN becomes <> 'FAILED' THEN NULL WHEN background THEN ${GIVEN_UP} ELSE ${INTERRUPTED} END,
      finished_at = CASE WHEN becomes <> 'QUEUED' THEN now() END
    FROM lost WHERE runs.id = lost.id
    RETURNING runs.id, bot_id AS "botId", kind, channel, status`;

  const finish = async () => {
    const ids = await find();
    for (const id of ids) await foldProgress({ prisma, log }, id);
    const lost = await recover(ids);
    for (const { kind, channel, status, ...run } of lost) {
      notify(run);
      if (status !== 'QUEUED') observer.runEnded({ kind, channel, status });
    }
    if (lost.length > 0) pubsub.publish(QUEUE_CHANNEL, '');
  };

  return {
    what: 'Recovery of interrupted runs',
    condition: Prisma.sql`EXISTS (SELECT 1 FROM runs WHERE ${IS_LOST})`,
    onAnswer: (isTrue) => (isTrue ? finish() : undefined),
  };
}

/** The error message of a run whose process died. */
export const INTERRUPTED = 'The server stopped while the run was active.';
const GIVEN_UP = `The server stopped in each of ${MAX_ATTEMPTS} attempts at the run. There is no further attempt.`;
