import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { ErrorCode } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import {
  type HistoryMessage,
  type NewSession,
  type RecalledRow,
  type Recollection,
  readRecalled,
  type SessionState,
  type TurnEnd,
} from '../sessions/history.ts';
import type { LeaseRow } from '../sessions/turns.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import { undo } from '../storage/persist.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import type { TellOfRun } from './changes.ts';
import { EVENT_COLUMNS, type EventRecord, readEvents } from './event-codec.ts';
import type { EndEvent } from './events.ts';
import { runChannel } from './run-channel.ts';
import type { StoredSpan } from './spans.ts';
import { BEGIN, BEGIN_TURN, CHECKPOINT, END } from './statements.ts';

/** The columns of a new run. */
export type NewRun = Pick<
  Prisma.RunUncheckedCreateInput,
  | 'botId'
  | 'deploymentId'
  | 'environment'
  | 'kind'
  | 'channel'
  | 'sessionId'
  | 'input'
  | 'context'
  | 'model'
  | 'traceId'
  | 'metadata'
  | 'onDisconnect'
>;

/** The outcome of a run. */
export type RunOutcome = {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** The reply's text, partial if the run did not complete. */
  response: string;
  error?: { code: ErrorCode; message: string };
  latencyMs: number;
  promptTokens: number;
  completionTokens: number;
  /** Whether the counts are an estimate. */
  tokensEstimated: boolean;
  /** In call order, without repeats. */
  toolsCalled: string[];
  /** The run's complete trace. */
  spans: StoredSpan[];
  /** Encoded by `event-codec.ts`. */
  events: EventRecord['events'];
};

/** The events and spans of a run so far. */
export type Checkpoint = EventRecord & Pick<RunOutcome, 'spans'>;

/** One attempt at a run. Only the owner that started the attempt may finish it. */
export type BegunRun = { id: string; botId: string; ownerId: string; attempt: number };

/** A run that is a session's turn. `recollection` is `undefined` if the statement may have read an outdated one. */
export type BegunTurn = {
  begun: BegunRun;
  session: SessionState;
  recollection: Recollection | undefined;
};

/** Stores runs: before the work starts, at each checkpoint, and when the work is finished. */
export type Runs = {
  /** @param also further writes for the same transaction. */
  begin(run: NewRun, also?: (runId: string) => Prisma.PrismaPromise<unknown>[]): Promise<BegunRun>;
  /**
   * Acquires a session's turn and creates its run in one statement.
   *
   * @param turn the session, with the key that it gets if it is new; the id of the lease; and the number of messages to
   *   recall.
   * @returns `undefined` if the turn is not free.
   */
  beginTurn(
    run: NewRun,
    turn: { session: NewSession; leaseId: string; limit: number },
  ): Promise<BegunTurn | undefined>;
  /**
   * Stores the deployment, the model and the trace of an attempt at a queued run.
   *
   * @throws an error if the attempt no longer owns the run.
   */
  resume(
    run: BegunRun,
    columns: Pick<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>,
  ): Promise<void>;
  /** Stores the run so far, for readers on other replicas and in case that this process dies. */
  checkpoint(run: BegunRun, soFar: Checkpoint): Promise<void>;
  /**
   * Stores a run's outcome and the end of its session's turn in one statement. Safe to repeat when its response is
   * lost.
   *
   * @returns the state of the run's row afterwards.
   */
  end(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
  /** As `end`, but finishes the run even if its turn is already released or its session is deleted. */
  abandon(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
};

/**
 * The state of a run's row after its end was stored: `asAsked` if it holds the given outcome, or the terminal event
 * that it holds instead. Without a terminal event, the run is still `held` by this attempt (which has lost its turn) or
 * `lost` to another attempt or to recovery. `gone`: deleted.
 */
export type StoredEnd = 'asAsked' | EndEvent | 'held' | 'lost' | 'gone';

/** No repeats: the next checkpoint replaces a failed one, and the caller of `end` retries for longer than a request. */
const CALLER_REPEATS = { repeats: false };

export function createRuns({
  prisma,
  sql,
  owner,
  pubsub,
  tell,
  log,
}: Pick<Database, 'prisma' | 'sql'> & {
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  tell: TellOfRun;
  log: Log;
}): Runs {
  const beginAll = createBatch<RunRow, object>(sql, BEGIN);
  const beginAllTurns = createBatch<TurnRow, BegunTurnRow>(sql, BEGIN_TURN);
  const checkpointAll = createBatch<Checkpoint & Holder, object>(sql, CHECKPOINT, CALLER_REPEATS);
  const endAll = createBatch<EndEntry, object>(sql, END, CALLER_REPEATS);

  const create = (run: RunRow) =>
    prisma.$queryRawUnsafe<object[]>(BEGIN.text, JSON.stringify([{ key: run.id, ...run }]));

  const beginWith = (run: RunRow, also: NonNullable<Parameters<Runs['begin']>[1]>) => {
    const { id } = run;
    const hasBegun = () => prisma.run.findUnique({ where: { id }, select: { id: true } });
    return retry(
      async (tries) => {
        try {
          await prisma.$transaction([create(run), ...also(id)]);
        } catch (error) {
          // A retry fails on the unique id if an earlier try committed and its response was lost.
          if (tries === 1 || !(await hasBegun())) throw error;
        }
      },
      { limitMs: REQUEST_LIMIT_MS },
    );
  };

  /** Releases a run to recovery. */
  const disown = (run: BegunRun) =>
    prisma.run.updateMany({ where: stillOf(run), data: { ownerId: null } });

  const newAttempt = ({ botId }: NewRun): BegunRun => ({
    id: makeId('run'),
    botId,
    ownerId: owner.id(),
    attempt: 1,
  });

  /** If it is unknown whether the run was created, releases the run to recovery. */
  const sure = async <T>(run: BegunRun, beginning: Promise<T>): Promise<T> => {
    try {
      return await beginning;
    } catch (error) {
      await undo(() => disown(run), { log, what: `The release of run ${run.id}` });
      throw error;
    }
  };

  const end = async (run: BegunRun, entry: EndEntry): Promise<StoredEnd> => {
    const ended = await endAll(run.id, entry);
    tell(run);
    return ended.length > 0 ? 'asAsked' : endOfRow(run);
  };

  /** A query of its own: the statement before it does not see an outcome that another one committed meanwhile. */
  const endOfRow = async ({ id, ownerId, attempt }: BegunRun): Promise<StoredEnd> => {
    const select = { ...EVENT_COLUMNS, ownerId: true, attempt: true };
    const row = await prisma.run.findUnique({ where: { id }, select });
    if (row === null) return 'gone';
    return (
      readEvents(row).end ?? (row.ownerId === ownerId && row.attempt === attempt ? 'held' : 'lost')
    );
  };

  return {
    async begin(run, also) {
      const begun = newAttempt(run);
      const row = { ...run, ...begun };
      await sure<unknown>(begun, also ? beginWith(row, also) : beginAll(begun.id, row));
      tell(begun, { isNew: true });
      return begun;
    },

    async beginTurn(run, { session: { key: sessionKey, ...session }, leaseId, limit }) {
      const begun = newAttempt(run);
      const row = { ...run, ...begun, ...session, sessionKey, leaseId, limit };
      const [turn] = await sure(begun, beginAllTurns(begun.id, row));
      if (!turn) return undefined;
      tell(begun, { isNew: true });
      return {
        begun,
        session: { key: turn.sessionKey, turns: turn.turns, leaseId },
        recollection: turn.isCurrent ? readRecalled(turn) : undefined,
      };
    },

    async resume(run, columns) {
      // The stored spans belong to an earlier attempt, which has another trace.
      const data = { ...columns, spans: Prisma.DbNull };
      await prisma.run.update({ where: stillOf(run), data, select: { id: true } });
    },

    async checkpoint({ id, ownerId, attempt }, soFar) {
      await checkpointAll(id, { ...soFar, ownerId, attempt });
      pubsub.publish(runChannel(id), '');
    },

    end: (run, outcome, turn) => end(run, endEntry(run, outcome, turn, true)),
    abandon: (run, outcome, turn) => end(run, endEntry(run, outcome, turn, false)),
  };
}

/** Matches the run's row while this attempt owns it. */
export function stillOf(run: BegunRun) {
  return { ...run, status: 'RUNNING' as const };
}

type RunRow = NewRun & BegunRun;
type Holder = Pick<BegunRun, 'ownerId' | 'attempt'>;

type TurnRow = RunRow & LeaseRow & { limit: number };

type BegunTurnRow = RecalledRow & { sessionKey: string; turns: number; isCurrent: boolean };

type EndEntry = Omit<RunOutcome, 'error'> &
  Holder & {
    errorCode: string | undefined;
    errorMessage: string | undefined;
    sessionKey: string | undefined;
    leaseId: string | undefined;
    turn: number | undefined;
    messages: (HistoryMessage & { id: string; position: number })[] | undefined;
    /** Whether the run may finish only if it still holds its turn. */
    together: boolean;
  };

function endEntry(
  { ownerId, attempt }: BegunRun,
  { error, ...outcome }: RunOutcome,
  turn: TurnEnd | undefined,
  together: boolean,
): EndEntry {
  return {
    ...outcome,
    ownerId,
    attempt,
    errorCode: error?.code,
    errorMessage: error?.message,
    sessionKey: turn?.session.key,
    leaseId: turn?.session.leaseId,
    turn: turn && turn.session.turns + 1,
    messages: turn?.messages?.map((message, position) => ({
      ...message,
      id: makeId('msg'),
      position,
    })),
    together,
  };
}
