import { GatewayError, toGatewayError } from '../errors.ts';
import type { Prisma, PrismaClient, Run } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Jobs } from '../storage/jobs.ts';
import type { Owner } from '../storage/owner.ts';
import { undo } from '../storage/persist.ts';
import type { PubSub } from '../storage/pubsub.ts';
import { retry, withinRequest } from '../storage/retry.ts';
import type { TellOfRun } from './changes.ts';
import { EVENT_COLUMNS, type EventRecord, readEvents } from './event-record.ts';
import type { RunEvent } from './events.ts';
import { type BegunRun, type NewRun, stillOf } from './runs.ts';
import { traceIdOf } from './trace.ts';

/** A run that begins later. */
export type QueuedRun = Omit<NewRun, 'deploymentId' | 'model' | 'traceId' | 'onDisconnect'> & {
  traceparent?: string | undefined;
};

/** What a run says of itself that waits for its first attempt, whatever has become of it since. */
export function asQueued({ traceparent }: { traceparent: unknown }) {
  return {
    status: 'QUEUED' as const,
    deployment: null,
    model: null,
    response: null,
    errorCode: null,
    errorMessage: null,
    startedAt: null,
    finishedAt: null,
    latencyMs: null,
    promptTokens: 0,
    completionTokens: 0,
    tokensEstimated: false,
    toolsCalled: [],
    traceId: traceIdOf(traceparent) ?? null,
    spans: null,
  };
}

/** A run that this process takes up, and when: it does not know yet whether that is committed. */
type HeldRun = BegunRun & { startedAt: Date | null };

/** What a run of the queue is done from. */
const WORK_COLUMNS = {
  ...EVENT_COLUMNS,
  botId: true,
  environment: true,
  channel: true,
  input: true,
  context: true,
  traceparent: true,
  createdAt: true,
  attempt: true,
} satisfies Prisma.RunSelect;

/** A run of the queue that this process has taken up. */
export type TakenRun = Pick<Run, 'environment' | 'channel' | 'input' | 'context' | 'createdAt'> & {
  begun: BegunRun;
  traceparent: string | null;
  /** What happened in earlier attempts, as far as it is stored and anybody can have read it. */
  earlier: RunEvent[];
};

/**
 * Runs that are done by whichever process has time: each by one at a time, and again where that process dies, three
 * times at most (`recovery.ts`).
 */
export type Queue = {
  /**
   * Has a run wait, all or nothing with what it leaves elsewhere.
   *
   * @returns its id.
   */
  add(
    run: QueuedRun,
    also?: (runId: string, tx: Prisma.TransactionClient) => Prisma.PrismaPromise<unknown>[],
  ): Promise<string>;
  /** Takes up the run that has waited longest; none where none waits. */
  take(): Promise<TakenRun | undefined>;
  /**
   * Has a run wait again that this process has no more time for; that is no failed attempt.
   *
   * @returns whether it does: not one that is to be stopped anyway, nor one that is no longer this attempt's.
   */
  putBack(run: BegunRun, record: EventRecord): Promise<boolean>;
  /**
   * Lets go of a run that was taken up and not begun: it fails where that was refused; where something broke it is found
   * without its owner, unless this was its last attempt.
   */
  leave(run: BegunRun, reason: unknown): Promise<void>;
};

/** Where it is told that a run waits. */
export const QUEUE_CHANNEL = 'queue';
/** How often a run of the queue is begun: one that takes its process down with it does so no more often. */
export const MAX_ATTEMPTS = 3;

const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

export function createQueue({
  prisma,
  jobs,
  owner,
  pubsub,
  tell,
  log,
}: {
  prisma: PrismaClient;
  jobs: Jobs;
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  tell: TellOfRun;
  log: Log;
}): Queue {
  const wake = () => pubsub.publish(QUEUE_CHANNEL, '');

  /**
   * @param hold called with the run once it is taken, if the transaction is committed.
   * @returns nothing where no job is left; `dropped` where its run waits no longer.
   */
  const takeJob = (ownerId: string, hold: (run: HeldRun) => void) =>
    prisma.$transaction(async (tx) => {
      const id = await jobs.take(tx);
      if (id === undefined) return undefined;
      const count = await tx.$executeRaw`
        UPDATE runs SET status = 'RUNNING', owner_id = ${ownerId}, started_at = now(), attempt = attempt + 1
        WHERE id = ${id} AND status = 'QUEUED'`;
      if (count === 0) return 'dropped';
      const where = { id };
      const row = await tx.run.findUniqueOrThrow({ where, select: WORK_COLUMNS });
      const { botId, attempt, ...rest } = row;
      const begun = { id, botId, ownerId, attempt };
      hold({ ...begun, startedAt: row.startedAt });
      return { ...rest, begun };
    }, TRANSACTION);

  /** Takes a run up; where that fails, nobody holds it, and it is found without its owner. */
  const takeNext = async (): Promise<TakenRun | 'dropped' | undefined> => {
    let held: HeldRun | undefined;
    try {
      const taken = await takeJob(owner.id(), (run) => {
        held = run;
      });
      if (taken === undefined || taken === 'dropped') return taken;
      const { events, ...rest } = taken;
      return { ...rest, earlier: events === null ? [] : readEvents(taken).events };
    } catch (error) {
      const run = held;
      if (run) await undo(() => letGo(run), { log, what: `That nobody works on ${run.id}` });
      throw error;
    }
  };

  const disown = (run: BegunRun) =>
    prisma.run.updateMany({ where: stillOf(run), data: { ownerId: null } });

  /** The same for this taking alone: where it was rolled back, the next one may be of the same attempt. */
  const letGo = ({ startedAt, ...run }: HeldRun) =>
    prisma.run.updateMany({ where: { ...stillOf(run), startedAt }, data: { ownerId: null } });

  const fail = (run: BegunRun, { code, message }: GatewayError) =>
    prisma.run.updateMany({
      where: stillOf(run),
      data: {
        status: 'FAILED',
        errorCode: code,
        errorMessage: message,
        finishedAt: new Date(),
      },
    });

  return {
    async add(run, also = () => []) {
      const id = makeId('run');
      const addOnce = async (tx: Prisma.TransactionClient) => {
        const queued = { status: 'QUEUED', background: true, attempt: 0 } as const;
        const traceId = traceIdOf(run.traceparent);
        const data = { ...run, ...queued, id, traceId, onDisconnect: 'CONTINUE' as const };
        await tx.run.create({ data, select: { id: true } });
        await jobs.add(tx, [id]);
        for (const write of also(id, tx)) await write;
      };
      const isAdded = () => prisma.run.findUnique({ where: { id }, select: { id: true } });
      await retry(
        async (tries) => {
          try {
            await prisma.$transaction(addOnce, TRANSACTION);
          } catch (error) {
            // A repeat fails where the answer of an earlier try was lost.
            if (tries === 1 || !(await isAdded())) throw error;
          }
        },
        { when: withinRequest() },
      );
      tell({ id, botId: run.botId }, { isNew: true });
      wake();
      return id;
    },

    async take() {
      for (;;) {
        // A transaction costs more than this question, which mostly has no for an answer.
        const waiting = await prisma.run.findFirst({
          where: { status: 'QUEUED' },
          select: { id: true },
        });
        if (waiting === null) return undefined;
        const taken = await takeNext();
        if (taken === 'dropped') continue;
        if (taken) tell(taken.begun);
        return taken;
      }
    },

    async putBack(run, record) {
      const isBack = await prisma.$transaction(async (tx) => {
        const { count } = await tx.run.updateMany({
          where: { ...stillOf(run), cancelRequested: false },
          data: { ...record, status: 'QUEUED', ownerId: null, attempt: { decrement: 1 } },
        });
        if (count > 0) await jobs.add(tx, [run.id]);
        return count > 0;
      }, TRANSACTION);
      if (isBack) {
        tell(run);
        wake();
      }
      return isBack;
    },

    async leave(run, reason) {
      const isLast = reason instanceof GatewayError || run.attempt >= MAX_ATTEMPTS;
      await (isLast ? fail(run, toGatewayError(reason)) : disown(run));
      tell(run);
    },
  };
}
