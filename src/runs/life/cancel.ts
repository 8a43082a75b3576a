import { startDeadline } from '../../async/deadline.ts';
import { startPeriodic } from '../../async/periodic.ts';
import { REMOVED } from '../../bots/bots.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import type { Owner } from '../../coordination/worker-lease.ts';
import { GatewayError } from '../../errors/errors.ts';
import { Prisma, type PrismaClient, type RunStatus } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { type EndedRun, type Observer, UNOBSERVED } from '../../observability/observer.ts';
import { retryInRequest } from '../../storage/retry.ts';
import type { NotifyOfRun } from '../record/changes.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { Replay } from './replay.ts';

/** Cancels runs on any replica. */
export type Cancel = {
  /**
   * Cancels a queued or running run and waits up to 10 seconds for it to finish. Its partial response, token counts and
   * trace are kept. Does nothing to a finished run.
   */
  cancel(runId: string): Promise<void>;
  /** As `cancel`, for all runs of a bot. */
  cancelAll(botId: string): Promise<void>;
  /** As `cancel`, for all runs of an account's bots. */
  cancelAccount(accountId: string): Promise<void>;
  /** Cancels the active runs of this process that are cancelled on another replica, until it is disposed of. */
  start(): AsyncDisposable;
};

/** A row that a cancellation has changed. */
type MarkedRun = { id: string; botId: string } & Pick<EndedRun, 'kind' | 'channel'>;

const CHANNEL = 'cancel';
/** How often a process polls for its own cancelled runs: a notification may be lost. */
const POLL_EVERY_MS = 1_000;
const MAX_WAIT_MS = 10_000;
/** The most queued runs that one statement cancels: a bot may have 100,000. */
const BATCH = 500;

export function createCancel({
  prisma,
  owner,
  activeRuns,
  replay,
  pubsub,
  notify,
  observer = UNOBSERVED,
  log,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  activeRuns: Pick<ActiveRuns, 'find' | 'isIdle' | 'onBusy' | 'cancelOf'>;
  replay: Replay;
  pubsub: PubSub;
  notify: NotifyOfRun;
  observer?: Observer;
  log: Log;
}): Cancel {
  const stop = (runId: string) => activeRuns.find(runId)?.cancel();

  const poll = async () => {
    const runs = await prisma.run.findMany({
      where: { status: 'RUNNING', ownerId: owner.id(), cancelRequested: true },
      select: { id: true },
    });
    for (const { id } of runs) stop(id);
  };

  const markStopped = (which: Prisma.Sql) => prisma.$queryRaw<
    (MarkedRun & { status: RunStatus })[]
  >`
      UPDATE runs SET
        cancel_requested = true,
        status = CASE status WHEN 'QUEUED' THEN 'CANCELLED' ELSE status END,
        finished_at = CASE status WHEN 'QUEUED' THEN now() END
      WHERE id IN (
        SELECT id FROM runs WHERE ${which} AND status IN ('QUEUED', 'RUNNING') ORDER BY id FOR UPDATE
      )
      RETURNING id, bot_id AS "botId", kind, channel, status`;

  const reportCancelled = ({ kind, channel, ...run }: MarkedRun) => {
    notify(run);
    observer.runEnded({ kind, channel, status: 'CANCELLED' });
  };

  const cancelWhere = async (which: Prisma.Sql) => {
    const stopped = await retryInRequest(() => markStopped(which));
    const running = stopped.filter(({ status }) => status === 'RUNNING');
    for (const run of running) notify(run);
    stopped.filter(({ status }) => status === 'CANCELLED').forEach(reportCancelled);
    for (const { id } of running) pubsub.publish(CHANNEL, id);
    using deadline = startDeadline(MAX_WAIT_MS);
    await Promise.all(running.map(({ id }) => endOf(id, deadline.signal)));
  };

  /** @returns whether there may be more. */
  const cancelQueued = async (which: Prisma.Sql) => {
    const cancelled = await prisma.$queryRaw<MarkedRun[]>`
      UPDATE runs SET cancel_requested = true, status = 'CANCELLED', finished_at = now()
      WHERE id IN (
        SELECT id FROM runs
        WHERE ${which} AND status = 'QUEUED' AND attempt = 0
        ORDER BY id LIMIT ${BATCH} FOR UPDATE
      )
      RETURNING id, bot_id AS "botId", kind, channel`;
    cancelled.forEach(reportCancelled);
    return cancelled.length === BATCH;
  };

  /** Waits until a run is finished or deleted. */
  const endOf = async (runId: string, signal: AbortSignal) => {
    try {
      for await (const _ of replay.read(runId, 0, signal, { failsFast: true }));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  };

  return {
    cancel: (runId) => cancelWhere(Prisma.sql`id = ${runId}`),
    async cancelAll(botId) {
      const ofBot = Prisma.sql`bot_id = ${botId}`;
      const account = Prisma.sql`(SELECT account_id FROM bots WHERE id = ${botId})`;
      while (await cancelQueued(Prisma.sql`account_id = ${account} AND ${ofBot}`));
      await cancelWhere(ofBot);
    },
    async cancelAccount(accountId) {
      while (await cancelQueued(Prisma.sql`account_id = ${accountId}`));
      await cancelWhere(
        Prisma.sql`bot_id IN (SELECT id FROM bots WHERE account_id = ${accountId})`,
      );
    },

    start() {
      const stack = new AsyncDisposableStack();
      const what = 'The poll for cancelled runs';
      const hasWork = () => !activeRuns.isIdle();
      const polling = stack.use(
        startPeriodic(poll, { everyMs: POLL_EVERY_MS, hasWork, log, what }),
      );
      stack.defer(activeRuns.onBusy(polling.resume));
      stack.defer(pubsub.subscribe(CHANNEL, stop));
      // A run that started while its bot was deleted has no row, so only this notification can cancel it.
      stack.defer(pubsub.subscribe(REMOVED, activeRuns.cancelOf));
      return stack;
    },
  };
}
