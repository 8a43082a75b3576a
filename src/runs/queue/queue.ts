import { GatewayError } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { type Plan, Prisma, type Run } from '../../generated/prisma/client.ts';
import type { Claim } from '../../idempotency/claim.ts';
import { UNOBSERVED } from '../../observability/observer.ts';
import { compensateOnUnknown } from '../../storage/persist.ts';
import { openTransaction } from '../../storage/transaction.ts';
import { createBegin, disown, type NewRun, type QueuedColumns, stillOf } from '../life/begin.ts';
import { createRunClock, type RunClock } from '../life/run-clock.ts';
import type { RunWriterParts } from '../life/runs.ts';
import type { BegunRun } from '../record/begun-run.ts';
import { EVENT_COLUMNS, type EventRecord, earlierEvents } from '../record/event-codec.ts';
import type { RunEvent } from '../record/events.ts';
import { traceIdOf } from '../trace/trace.ts';
import { createQueueQuota } from './queue-quota.ts';
import { createScheduler, type TakeOptions } from './scheduler.ts';

/** A background run to enqueue. */
export type QueuedRun = Omit<NewRun, 'deploymentId' | 'model' | 'traceId' | 'onDisconnect'> &
  QueuedColumns & {
    /** The account's plan, which limits its queued runs. */
    plan: Plan;
  };

/** A run that this process takes, while the commit is not yet known. */
type HeldRun = BegunRun & { startedAt: Date | null };

/** The columns that the execution of a queued run needs. */
const WORK_COLUMNS = {
  ...EVENT_COLUMNS,
  botId: true,
  environment: true,
  kind: true,
  channel: true,
  entrance: true,
  input: true,
  context: true,
  outputSchema: true,
  history: true,
  withoutTools: true,
  traceparent: true,
  client: true,
  createdAt: true,
  attempt: true,
} satisfies Prisma.RunSelect;

/** A queued run that this process has taken. */
export type TakenRun = Pick<
  Run,
  | 'environment'
  | 'kind'
  | 'channel'
  | 'entrance'
  | 'client'
  | 'input'
  | 'context'
  | 'outputSchema'
  | 'history'
  | 'withoutTools'
  | 'createdAt'
> & {
  begun: BegunRun;
  clock: RunClock;
  accountId: string;
  traceparent: string | null;
  /** The stored events of earlier attempts: clients may have read them. */
  earlier: RunEvent[];
};

/**
 * The queue of background runs. It has no separate table: a run with the status `QUEUED` is in the queue. One process
 * at a time executes a run. If that process dies, the next attempt follows after a delay, up to `MAX_ATTEMPTS`
 * (`recovery.ts`). `scheduler.ts` chooses the next run.
 */
export type Queue = {
  /**
   * Claims the idempotency key, if any, and enqueues the run.
   *
   * @returns the run's id, or that another request has the key.
   * @throws GatewayError `rate_limit_exceeded` if the account has as many queued runs as its plan allows.
   */
  enqueue(
    run: QueuedRun,
    claim?: Claim,
  ): Promise<{ kind: 'enqueued'; id: string } | { kind: 'keyTaken' }>;
  /** Takes the next runs, one by default. @returns none if no run may start in this process now. */
  take(options?: TakeOptions): Promise<TakenRun[]>;
  /**
   * Requeues a run during shutdown. It does not count as an attempt.
   *
   * @returns whether the run is queued again. False if it is being cancelled or this attempt no longer owns it.
   */
  requeue(run: BegunRun, record: EventRecord): Promise<boolean>;
  /**
   * Releases a run that was taken but could not start. After a `GatewayError` or its last attempt the run fails;
   * otherwise it loses its owner, and recovery requeues it.
   */
  release(run: BegunRun, reason: unknown): Promise<void>;
};

/** Whether a run is queued that may start. */
export const IS_RUN_DUE = Prisma.sql`EXISTS (
  SELECT 1 FROM runs WHERE status = 'QUEUED' AND (attempt = 0 OR available_at <= now()))`;

/** Notifies workers that a run was enqueued or that a slot is free. */
export const QUEUE_CHANNEL = 'queue';
/** The attempts that a background run has. Limits how many processes a run can crash. */
export const MAX_ATTEMPTS = 3;
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

export function createQueue({
  prisma,
  sql,
  owner,
  pubsub,
  notify,
  observer = UNOBSERVED,
  log,
}: RunWriterParts): Queue {
  const wake = () => pubsub.publish(QUEUE_CHANNEL, '');

  const begin = createBegin({ prisma, sql, owner, observer, log });
  const scheduler = createScheduler();
  const quota = createQueueQuota({ prisma });

  /** Takes runs. If the outcome of the commit is unknown, releases them to recovery. */
  const takeNext = async (options: TakeOptions): Promise<TakenRun[]> => {
    await using transaction = await openTransaction(prisma, TRANSACTION);
    const { tx, commit } = transaction;
    const ownerId = owner.id();
    const chosen = await scheduler.take(tx, ownerId, options);
    if (chosen.length === 0) return [];
    const where = { id: { in: chosen.map(({ id }) => id) } };
    const rows = await tx.run.findMany({ where, select: WORK_COLUMNS });
    const held = rows.map(({ id, botId, attempt, startedAt }): HeldRun => {
      return { id, botId, ownerId, attempt, startedAt };
    });
    await compensateOnUnknown(commit(), () => Promise.all(held.map(releaseHeld)), {
      log,
      what: 'The release of queued runs',
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return chosen.flatMap(({ id, accountId }) => {
      const row = byId.get(id);
      return row ? [takenRun(row, ownerId, accountId)] : [];
    });
  };

  /** `startedAt` matches this transaction only: after a rollback, another process may take the same attempt. */
  const releaseHeld = ({ startedAt, ...run }: HeldRun) =>
    prisma.run.updateMany({ where: { ...stillOf(run), startedAt }, data: { ownerId: null } });

  const fail = async ({ id, ownerId, attempt }: BegunRun, { code, message }: GatewayError) => {
    const failed = await prisma.$queryRaw<Pick<Run, 'kind' | 'channel'>[]>`
      UPDATE runs SET status = 'FAILED', error_code = ${code}, error_message = ${message}, finished_at = now()
      WHERE id = ${id} AND status = 'RUNNING' AND owner_id = ${ownerId} AND attempt = ${attempt}
      RETURNING kind, channel`;
    for (const labels of failed) observer.runEnded({ ...labels, status: 'FAILED' });
  };

  return {
    async enqueue(request, claim) {
      const { plan, accountId, traceparent, client, outputSchema, withoutTools, ...run } = request;
      const releasePlace = await quota.reserve(accountId, plan);
      const traceId = traceIdOf(traceparent);
      const outcome = await begin(
        { ...run, traceId, onDisconnect: 'CONTINUE' },
        { claim, queued: { accountId, traceparent, client, outputSchema, withoutTools } },
      );
      if (outcome.kind !== 'begun') {
        releasePlace();
        return { kind: 'keyTaken' };
      }
      const { id } = outcome.begun;
      notify(outcome.begun, { isNew: true });
      wake();
      return { kind: 'enqueued', id };
    },

    async take(options = { free: 1, held: new Map(), takesRetries: true }) {
      // The queue is empty most of the time, and this query costs less than a transaction.
      const waiting = await prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM runs WHERE status = 'QUEUED' LIMIT 1`;
      const taken = waiting.length > 0 ? await takeNext(options) : [];
      for (const { begun } of taken) notify(begun);
      return taken;
    },

    async requeue(run, { response, events, eventTimes }) {
      const { id, ownerId, attempt } = run;
      const requeued = await prisma.$queryRaw<unknown[]>`
        WITH requeued AS (
          UPDATE runs SET status = 'QUEUED', owner_id = NULL, attempt = attempt - 1, response = ${response},
            events = ${JSON.stringify(events)}::jsonb, event_times = ${eventTimes}::int[]
          WHERE id = ${id} AND status = 'RUNNING' AND owner_id = ${ownerId} AND attempt = ${attempt}
            AND NOT cancel_requested
          RETURNING id
        ), settled AS (
          -- The next attempt has the same number.
          DELETE FROM run_progress WHERE run_id IN (SELECT id FROM requeued)
        )
        SELECT id FROM requeued`;
      if (requeued.length === 0) return false;
      notify(run);
      wake();
      return true;
    },

    async release(run, reason) {
      const isLast = reason instanceof GatewayError || run.attempt >= MAX_ATTEMPTS;
      await (isLast ? fail(run, toGatewayError(reason)) : disown(prisma, run));
      notify(run);
    },
  };
}

function takenRun(
  { id, botId, attempt, ...row }: Prisma.RunGetPayload<{ select: typeof WORK_COLUMNS }>,
  ownerId: string,
  accountId: string,
): TakenRun {
  const createdAt = row.createdAt.getTime();
  // The database's clock has just set it.
  const startedAt = row.startedAt?.getTime() ?? createdAt;
  const clock = createRunClock({ createdAt, startedAt, answeredAt: startedAt });
  const begun = { id, botId, ownerId, attempt };
  return { ...row, begun, clock, accountId, earlier: earlierEvents({ id, ...row }) };
}
