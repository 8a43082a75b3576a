import { REMOVED } from '../bots/bots.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors.ts';
import { Prisma, type PrismaClient, type RunStatus } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import { retry, withinRequest } from '../storage/retry.ts';
import type { LiveRuns } from './active-runs.ts';
import type { TellOfRun } from './changes.ts';
import type { Replay } from './replay.ts';

/** Stops runs, wherever they are at work. */
export type Cancel = {
  /**
   * Stops a queued or running run and waits for its end, 10 seconds at most; one that is over stays as it is. What
   * was said until then is kept, with its tokens and its trace.
   */
  cancel(runId: string): Promise<void>;
  /** The same for all runs of a bot. */
  cancelAll(botId: string): Promise<void>;
  close(): Promise<void>;
};

const CHANNEL = 'cancel';
/** How often a process looks for runs of its own that are to be stopped: the word of it may be lost. */
const LOOK_EVERY_MS = 1_000;
const MAX_WAIT_MS = 10_000;
/** How many waiting runs of a bot are cancelled by one statement: a bot may have 100,000. */
const BATCH = 500;

export function startCancel({
  prisma,
  owner,
  liveRuns,
  replay,
  pubsub,
  tell,
  log,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  liveRuns: Pick<LiveRuns, 'find' | 'stopOf'>;
  replay: Replay;
  pubsub: PubSub;
  tell: TellOfRun;
  log: Log;
}): Cancel {
  const stop = (runId: string) => liveRuns.find(runId)?.stop();
  const unsubscribe = [
    pubsub.subscribe(CHANNEL, stop),
    // What has begun while its bot was deleted, whose rows are gone, nobody else can stop.
    pubsub.subscribe(REMOVED, liveRuns.stopOf),
  ];

  let looking: Promise<void> | undefined;
  const look = async () => {
    const runs = await prisma.run.findMany({
      where: { status: 'RUNNING', ownerId: owner.id(), cancelRequested: true },
      select: { id: true },
    });
    for (const { id } of runs) stop(id);
  };
  const timer = setInterval(() => {
    looking ??= look()
      .catch((err: unknown) => log.error({ err }, 'Runs to stop could not be looked for.'))
      .finally(() => {
        looking = undefined;
      });
  }, LOOK_EVERY_MS);

  const markStopped = (which: Prisma.Sql) => prisma.$queryRaw<
    { id: string; botId: string; status: RunStatus }[]
  >`
      UPDATE runs SET
        cancel_requested = true,
        status = CASE status WHEN 'QUEUED' THEN 'CANCELLED' ELSE status END,
        finished_at = CASE status WHEN 'QUEUED' THEN now() END
      WHERE id IN (
        SELECT id FROM runs WHERE ${which} AND status IN ('QUEUED', 'RUNNING') ORDER BY id FOR UPDATE
      )
      RETURNING id, bot_id AS "botId", status`;

  const cancelWhere = async (which: Prisma.Sql) => {
    const stopped = await retry(() => markStopped(which), { when: withinRequest() });
    for (const run of stopped) tell(run);
    const atWork = stopped.filter(({ status }) => status === 'RUNNING');
    for (const { id } of atWork) pubsub.publish(CHANNEL, id);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), MAX_WAIT_MS);
    try {
      await Promise.all(atWork.map(({ id }) => endOf(id, limit.signal)));
    } finally {
      clearTimeout(timer);
    }
  };

  /** @returns whether there may be more. */
  const cancelQueued = async (botId: string) => {
    const cancelled = await prisma.$queryRaw<{ id: string; botId: string }[]>`
      UPDATE runs SET cancel_requested = true, status = 'CANCELLED', finished_at = now()
      WHERE id IN (
        SELECT id FROM runs
        WHERE account_id = (SELECT account_id FROM bots WHERE id = ${botId}) AND bot_id = ${botId}
          AND status = 'QUEUED' AND attempt = 0
        ORDER BY id LIMIT ${BATCH} FOR UPDATE
      )
      RETURNING id, bot_id AS "botId"`;
    for (const run of cancelled) tell(run);
    return cancelled.length === BATCH;
  };

  /** Waits for the end of a run, or until it is gone. */
  const endOf = async (runId: string, signal: AbortSignal) => {
    try {
      for await (const _ of replay.read(runId, 0, signal, { isImpatient: true }));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  };

  return {
    cancel: (runId) => cancelWhere(Prisma.sql`id = ${runId}`),
    async cancelAll(botId) {
      while (await cancelQueued(botId));
      await cancelWhere(Prisma.sql`bot_id = ${botId}`);
    },

    async close() {
      for (const end of unsubscribe) end();
      clearInterval(timer);
      await looking;
    },
  };
}
