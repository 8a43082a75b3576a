import { type PeriodicTask, startPeriodic } from '../../async/periodic.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import { isOwnerless } from '../../coordination/worker-lease.ts';
import { EVALUATION_WORK, IS_WORK_DUE } from '../../deployments/evaluation-work.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { type EndedRun, type Observer, UNOBSERVED } from '../../observability/observer.ts';
import { foldProgress, HAS_PROGRESS } from '../life/progress.ts';
import type { NotifyOfRun } from '../record/changes.ts';
import { MAX_ATTEMPTS, QUEUE_CHANNEL } from './queue.ts';

export const POLL_EVERY_MS = 2_000;
/** The most runs that one poll finishes. */
const BATCH = 500;
/** The delay before the next attempt is this base to the power of the attempts so far. */
const RETRY_SECONDS = 5;

const LOST = Prisma.raw(isOwnerless('runs.owner_id'));

type Found = { lost: string[]; isDue: boolean; isEvaluationDue: boolean };
type Lost = { id: string; botId: string; status: 'QUEUED' | EndedRun['status'] } & Pick<
  EndedRun,
  'kind' | 'channel'
>;

/**
 * Finishes the runs of dead processes, and wakes the workers for queued runs, evaluations and gates, until it is disposed
 * of. The runs of dead processes become `FAILED` with the code `interrupted`. A background run becomes `QUEUED` instead, unless it was cancelled or had its last attempt. It may have crashed the
 * process, so its next attempt waits 5 seconds, then 25, and `scheduler.ts` starts one such run per account at a time.
 * Other processes detect a dead one within 10 seconds (`coordination/worker-lease.ts`) and recover its runs with the
 * next poll.
 */
export function startRecovery({
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
}): PeriodicTask {
  const find = async () => {
    const [found] = await prisma.$queryRaw<Found[]>`
      SELECT ARRAY(SELECT id FROM runs WHERE status = 'RUNNING' AND ${LOST} LIMIT ${BATCH}) AS lost,
        EXISTS (SELECT 1 FROM runs WHERE status = 'QUEUED' AND (attempt = 0 OR available_at <= now())) AS "isDue",
        ${IS_WORK_DUE} AS "isEvaluationDue"`;
    return found ?? { lost: [], isDue: false, isEvaluationDue: false };
  };

  const recover = (ids: string[]) => prisma.$queryRaw<Lost[]>`
    WITH lost AS (
      SELECT id, CASE
        WHEN background AND cancel_requested THEN 'CANCELLED'
        WHEN background AND attempt < ${MAX_ATTEMPTS} THEN 'QUEUED'
        ELSE 'FAILED'
      END AS becomes
      FROM runs
      WHERE id = ANY(${ids}) AND status = 'RUNNING' AND ${LOST}
        -- The process of such a run is not dead, and the next poll finds it again.
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

  const poll = async () => {
    const { lost: ids, isDue, isEvaluationDue } = await find();
    // The notification of a queued run may be lost, and the delay of a retry ends without one.
    if (isDue) pubsub.publish(QUEUE_CHANNEL, '');
    if (isEvaluationDue) pubsub.publish(EVALUATION_WORK, '');
    if (ids.length === 0) return;
    for (const id of ids) await foldProgress({ prisma, log }, id);
    const lost = await recover(ids);
    for (const { kind, channel, status, ...run } of lost) {
      notify(run);
      if (status !== 'QUEUED') observer.runEnded({ kind, channel, status });
    }
    if (lost.length > 0) pubsub.publish(QUEUE_CHANNEL, '');
  };

  return startPeriodic(poll, {
    everyMs: POLL_EVERY_MS,
    isImmediate: true,
    log,
    what: 'Recovery of interrupted runs',
  });
}

/** The error message of a run whose process died. */
export const INTERRUPTED = 'The server stopped while the run was active.';
const GIVEN_UP = `The server stopped in each of ${MAX_ATTEMPTS} attempts at the run. There is no further attempt.`;
