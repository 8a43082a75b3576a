import type { PubSub } from '../../coordination/pubsub.ts';
import type { Owner } from '../../coordination/worker-lease.ts';
import type { ErrorCode } from '../../errors/errors.ts';
import type { Log } from '../../observability/log.ts';
import { type Observer, UNOBSERVED } from '../../observability/observer.ts';
import type { HistoryMessage, TurnEnd } from '../../sessions/history.ts';
import { createBatch } from '../../storage/batch.ts';
import type { Database } from '../../storage/database.ts';
import { makeId } from '../../text/ids.ts';
import type { JsonObject } from '../../text/json.ts';
import type { BegunRun } from '../record/begun-run.ts';
import type { NotifyOfRun } from '../record/changes.ts';
import { EVENT_COLUMNS, type EventRecord, readEvents } from '../record/event-codec.ts';
import type { EndEvent } from '../record/events.ts';
import type { PromptRecord } from '../record/prompt-record.ts';
import { runChannel } from '../record/run-channel.ts';
import type { StoredSpan } from '../record/spans.ts';
import type { ToolCallRecord } from '../tool-calls/tool-call.ts';
import { type Begin, createBegin, type NewRun } from './begin.ts';
import type { NewPiece } from './progress.ts';
import { END, PROGRESS, RESUME } from './statements.ts';

/** Characters of the message of a run's error. */
export const MAX_ERROR_LENGTH = 500;

/** The outcome of a run. */
export type RunOutcome = {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** The reply's text, partial if the run did not complete. */
  response: string;
  /** The structured reply of a completed run, if one was requested. */
  output?: JsonObject | undefined;
  /** Its message has at most `MAX_ERROR_LENGTH` characters. */
  error?: { code: ErrorCode; message: string; detail?: string | undefined } | undefined;
  latencyMs: number;
  promptTokens: number;
  completionTokens: number;
  /** Whether the counts are an estimate. */
  tokensEstimated: boolean;
  /** How many of the prompts' tokens came from a cache; `undefined` if no server counted them. */
  cachedTokens?: number | undefined;
  /** How many of the completions' tokens are reasoning; `undefined` if no server counted them. */
  reasoningTokens?: number | undefined;
  /** The model that answered, if it is not the one that the run began with. */
  model?: string | undefined;
  /** Why the model ended its last answer; `undefined` if it ended none. */
  finishReason?: string | undefined;
  /** In call order, without repeats. */
  toolsCalled: string[];
  /** The run's complete trace. */
  spans: StoredSpan[];
  /** Encoded by `event-codec.ts`. */
  events: EventRecord['events'];
  eventTimes: EventRecord['eventTimes'];
  /** What the run sent to the model, if it stores that. */
  prompt?: PromptRecord | undefined;
  /** The records of tool calls that are not stored yet. */
  toolCalls?: ToolCallRecord[] | undefined;
  /** Whether the attempt may have stored pieces of its progress, which its end then deletes. */
  hasProgress: boolean;
};

/** What an attempt at a queued run knows at its start. */
type ResumedColumns = Pick<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>;

/** Stores runs: before the work starts, at intervals while it goes on, and when it is finished. */
export type Runs = {
  begin: Begin;
  /**
   * Stores the deployment, the model and the trace of an attempt at a queued run.
   *
   * @returns whether the run was cancelled before.
   * @throws an error if the attempt no longer owns the run.
   */
  resume(run: BegunRun, columns: ResumedColumns): Promise<{ cancelRequested: boolean }>;
  /** Appends what the run has emitted, for readers on other replicas and in case that this process dies. */
  progress(run: BegunRun, piece: NewPiece): Promise<void>;
  /**
   * Stores a run's outcome and the end of its session's turn in one statement. Safe to repeat when its response is
   * lost.
   *
   * @returns the state of the run's row afterwards.
   */
  end(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
  /** As `end`, but finishes the run even if its turn is already released or its session is deleted. */
  endWithoutTurn(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<StoredEnd>;
};

/**
 * The state of a run's row after its end was stored: `finishedAt`, in milliseconds since 1970, if it holds the given
 * outcome, or the terminal event that it holds instead. Without a terminal event, the run is still `held` by this attempt (which has lost its turn) or
 * `lost` to another attempt or to recovery. `deleted` otherwise.
 */
export type StoredEnd = { finishedAt: number } | EndEvent | 'held' | 'lost' | 'deleted';

/** No repeats: the next piece contains a failed one, and the caller of `end` retries for longer than a request. */
const CALLER_REPEATS = { repeats: false };

/** What writes runs to the database, and notifies of their changes. */
export type RunWriterParts = Pick<Database, 'prisma' | 'sql'> & {
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  notify: NotifyOfRun;
  observer?: Observer;
  log: Log;
};

export function createRuns({
  prisma,
  sql,
  owner,
  pubsub,
  notify,
  observer = UNOBSERVED,
  log,
}: RunWriterParts): Runs {
  const begin = createBegin({ prisma, sql, owner, observer, log });
  const resumeAll = createBatch<ResumedColumns & Holder, { cancelRequested: boolean }>(sql, RESUME);
  const appendAll = createBatch<NewPiece & Holder, object>(sql, PROGRESS, CALLER_REPEATS);
  const endAll = createBatch<EndEntry, { finishedAt: number }>(sql, END, {
    ...CALLER_REPEATS,
    onSend: (runs) => observer.batchSent('end', runs),
  });

  const end = async (run: BegunRun, entry: EndEntry): Promise<StoredEnd> => {
    const [ended] = await endAll(run.id, entry);
    notify(run);
    return ended ? { finishedAt: ended.finishedAt } : endOfRow(run);
  };

  /** A separate query: the previous statement does not see an outcome that another transaction committed meanwhile. */
  const endOfRow = async ({ id, ownerId, attempt }: BegunRun): Promise<StoredEnd> => {
    const select = { ...EVENT_COLUMNS, ownerId: true, attempt: true };
    const row = await prisma.run.findUnique({ where: { id }, select });
    if (row === null) return 'deleted';
    return (
      readEvents(row).end ?? (row.ownerId === ownerId && row.attempt === attempt ? 'held' : 'lost')
    );
  };

  return {
    async begin(run, options) {
      const outcome = await begin(run, options);
      if (outcome.kind === 'begun') notify(outcome.begun, { isNew: true });
      return outcome;
    },

    async resume({ id, ownerId, attempt }, columns) {
      const [resumed] = await resumeAll(id, { ...columns, ownerId, attempt });
      if (!resumed) throw new Error('The attempt no longer owns the run.');
      return resumed;
    },

    async progress({ id, ownerId, attempt }, piece) {
      await appendAll(id, { ...piece, ownerId, attempt });
      pubsub.publish(runChannel(id), '');
    },

    end: (run, outcome, turn) => end(run, endEntry(run, outcome, turn, true)),
    endWithoutTurn: (run, outcome, turn) => end(run, endEntry(run, outcome, turn, false)),
  };
}

type Holder = Pick<BegunRun, 'ownerId' | 'attempt'>;

/** What `END` gets of a run. */
export type EndEntry = Omit<RunOutcome, 'error'> &
  Holder & {
    errorCode: string | undefined;
    errorMessage: string | undefined;
    errorDetail: string | undefined;
    sessionKey: string | undefined;
    leaseId: string | undefined;
    turn: number | undefined;
    messages: (HistoryMessage & { id: string; position: number })[] | undefined;
    /** Whether the run may finish only if it still holds its turn. */
    requiresTurn: boolean;
  };

function endEntry(
  { ownerId, attempt }: BegunRun,
  { error, ...outcome }: RunOutcome,
  turn: TurnEnd | undefined,
  requiresTurn: boolean,
): EndEntry {
  return {
    ...outcome,
    toolCalls: outcome.toolCalls?.length ? outcome.toolCalls : undefined,
    ownerId,
    attempt,
    errorCode: error?.code,
    errorMessage: error?.message,
    errorDetail: error?.detail,
    sessionKey: turn?.session.key,
    leaseId: turn?.session.leaseId,
    turn: turn && turn.session.turns + 1,
    messages: turn?.messages?.map((message, position) => ({
      ...message,
      id: makeId('msg'),
      position,
    })),
    requiresTurn,
  };
}
