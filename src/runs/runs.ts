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

/** What a run begins with. */
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

/** How a run ended. */
export type RunOutcome = {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** What was said, whole or in part. */
  response: string;
  error?: { code: ErrorCode; message: string };
  latencyMs: number;
  promptTokens: number;
  completionTokens: number;
  /** Whether the counts are an estimate. */
  tokensEstimated: boolean;
  /** In call order, without repeats. */
  toolsCalled: string[];
  /** All of the run's trace. */
  spans: StoredSpan[];
  /** Where its text was said and what else happened, as `event-record.ts` writes it. */
  events: EventRecord['events'];
};

/** What has happened in a run so far. */
export type Checkpoint = EventRecord & Pick<RunOutcome, 'spans'>;

/** A run at work: whoever began this attempt may end it, and nobody else. */
export type BegunRun = { id: string; botId: string; ownerId: string; attempt: number };

/** A run that is a session's turn, and what it begins with, where that was found at once. */
export type BegunTurn = {
  begun: BegunRun;
  session: SessionState;
  recollection: Recollection | undefined;
};

/** The life of runs: written before the work begins, now and then while it goes on, and when it has ended. */
export type Runs = {
  /** @param also what it leaves elsewhere, in the same transaction. */
  begin(run: NewRun, also?: (runId: string) => Prisma.PrismaPromise<unknown>[]): Promise<BegunRun>;
  /**
   * Begins a run along with the turn of a session that it is, all or nothing.
   *
   * @param turn its session, under a key that is new; under which lease to take it; and how many of the last messages
   *   to recall.
   * @returns nothing where the turn is not free.
   */
  beginTurn(
    run: NewRun,
    turn: { session: NewSession; leaseId: string; limit: number },
  ): Promise<BegunTurn | undefined>;
  /**
   * Notes what a run that waited is done by.
   *
   * @throws an error when it is no longer the caller's.
   */
  resume(
    run: BegunRun,
    columns: Pick<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>,
  ): Promise<void>;
  /** Stores what has happened so far, for those who read the run elsewhere, and in case that its process dies. */
  checkpoint(run: BegunRun, soFar: Checkpoint): Promise<void>;
  /**
   * Stores a run's end together with that of the session's turn that it was, all or nothing. Safe to repeat when its
   * answer is lost.
   *
   * @returns how the run ended, by its row.
   */
  end(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
  /** The same where the turn may be over already, or gone: whatever of the two is still the caller's is ended. */
  abandon(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
};

/**
 * What a run's row holds after an attempt to end it: the outcome `asAsked`, or another end. A run without an end is
 * still `held` by the attempt (its turn is not), or `lost` to another one or to recovery; a deleted one is `gone`.
 */
export type StoredEnd = 'asAsked' | EndEvent | 'held' | 'lost' | 'gone';

/** The next checkpoint holds what the last one did, and the end of a run is repeated for longer than a request. */
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
          // A repeat fails where the answer of an earlier try was lost.
          if (tries === 1 || !(await hasBegun())) throw error;
        }
      },
      { limitMs: REQUEST_LIMIT_MS },
    );
  };

  /** Leaves a run that may have begun though the answer was lost to those who look for lost ones. */
  const disown = (run: BegunRun) =>
    prisma.run.updateMany({ where: stillOf(run), data: { ownerId: null } });

  const newAttempt = ({ botId }: NewRun): BegunRun => ({
    id: makeId('run'),
    botId,
    ownerId: owner.id(),
    attempt: 1,
  });

  const sure = async <T>(run: BegunRun, beginning: Promise<T>): Promise<T> => {
    try {
      return await beginning;
    } catch (error) {
      await undo(() => disown(run), { log, what: `The end of ${run.id}` });
      throw error;
    }
  };

  const end = async (run: BegunRun, entry: EndEntry): Promise<StoredEnd> => {
    const ended = await endAll(run.id, entry);
    tell(run);
    return ended.length > 0 ? 'asAsked' : endOfRow(run);
  };

  /** Reads how a run ended. By itself: a statement that waited for the one that ended it does not see that end. */
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
      // What is stored of an earlier attempt's trace is of another one.
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

/** The run where it is still this attempt's. */
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
    /** Whether the run ends only along with its turn. */
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
