import type { ErrorCode } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { HistoryMessage, TurnEnd } from '../sessions/history.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import type { Owner } from '../storage/owner.ts';
import { persist } from '../storage/persist.ts';
import type { PubSub } from '../storage/pubsub.ts';
import { statement } from '../storage/sql.ts';
import type { TellOfRun } from './changes.ts';
import type { EventRecord } from './event-record.ts';
import { runChannel } from './run-channel.ts';
import type { StoredSpan } from './spans.ts';

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

/** A run at work: whoever began this attempt may end it, and nobody else. */
export type BegunRun = { id: string; botId: string; ownerId: string; attempt: number };

/** The life of runs: written before the work begins, now and then while it goes on, and when it has ended. */
export type Runs = {
  /** @param also what it leaves elsewhere, in the same transaction. */
  begin(run: NewRun, also?: (runId: string) => Prisma.PrismaPromise<unknown>[]): Promise<BegunRun>;
  /**
   * Notes what a run that waited is done by.
   *
   * @throws an error when it is no longer the caller's.
   */
  resume(
    run: BegunRun,
    columns: Pick<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>,
  ): Promise<void>;
  /** Stores what has happened so far, for those who read the run elsewhere. */
  checkpoint(run: BegunRun, record: EventRecord): Promise<void>;
  /**
   * Stores a run's end together with that of the session's turn that it was, all or nothing.
   *
   * @throws an error when the run, or the turn, is gone or no longer the caller's.
   */
  end(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<void>;
  /** The same for a run or a turn that may be over already, or gone: what still is the caller's is ended. */
  abandon(run: BegunRun, outcome: RunOutcome, turn?: TurnEnd): Promise<void>;
};

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
  const checkpointAll = createBatch<EventRecord & Holder, object>(sql, CHECKPOINT);
  const endAll = createBatch<EndEntry, object>(sql, END);

  const create = (run: RunRow) =>
    prisma.run.create({
      data: { ...run, status: 'RUNNING', startedAt: new Date() },
      select: { id: true },
    });

  /** Leaves a run that may have begun though the answer was lost to those who look for lost ones. */
  const disown = (run: BegunRun) =>
    prisma.run.updateMany({ where: stillOf(run), data: { ownerId: null } });

  return {
    async begin(run, also) {
      const begun = { id: makeId('run'), botId: run.botId, ownerId: owner.id(), attempt: 1 };
      try {
        if (also) await prisma.$transaction([create({ ...run, ...begun }), ...also(begun.id)]);
        else await beginAll(begun.id, { ...run, ...begun });
      } catch (error) {
        await persist(() => disown(begun), { log, what: `The end of ${begun.id}` });
        throw error;
      }
      tell(begun);
      return begun;
    },

    async resume(run, columns) {
      await prisma.run.update({ where: stillOf(run), data: columns, select: { id: true } });
    },

    async checkpoint({ id, ownerId, attempt }, record) {
      await checkpointAll(id, { ...record, ownerId, attempt });
      pubsub.publish(runChannel(id), '');
    },

    async end(run, outcome, turn) {
      const ended = await endAll(run.id, endEntry(run, outcome, turn, true));
      if (ended.length === 0) throw new Error('The run or its turn is no longer this process’s.');
      tell(run);
    },

    async abandon(run, outcome, turn) {
      await endAll(run.id, endEntry(run, outcome, turn, false));
      tell(run);
    },
  };
}

/** The run where it is still this attempt's. */
export function stillOf(run: BegunRun) {
  return { ...run, status: 'RUNNING' as const };
}

type RunRow = NewRun & BegunRun;
type Holder = Pick<BegunRun, 'ownerId' | 'attempt'>;

const BEGIN = statement(`
  INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, session_id, input, context,
    model, metadata, trace_id, on_disconnect, owner_id, attempt, started_at)
  SELECT id, "botId", "deploymentId", environment::"Environment", kind::"RunKind", 'RUNNING',
    channel::"Channel", "sessionId", input, context, model, metadata, "traceId",
    COALESCE("onDisconnect", 'CANCEL')::"OnDisconnect", "ownerId", attempt, now()
  FROM json_to_recordset($1) AS asked
    (id text, "botId" text, "deploymentId" text, environment text, kind text, channel text, "sessionId" text,
     input text, context jsonb, model text, metadata jsonb, "traceId" text, "onDisconnect" text,
     "ownerId" text, attempt int)
  ON CONFLICT (id) DO NOTHING
  RETURNING id AS key`);

const CHECKPOINT = statement(`
  UPDATE runs SET response = asked.response, events = asked.events
  FROM json_to_recordset($1) AS asked
    (key text, "ownerId" text, attempt int, response text, events jsonb)
  WHERE runs.id = key AND status = 'RUNNING' AND owner_id = "ownerId" AND runs.attempt = asked.attempt`);

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

/**
 * The rows of sessions are locked in the order in which they are taken, so that nobody waits in a circle. Done again,
 * because its answer was lost, it answers the same.
 */
const END = statement(`
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS asked
      (key text, "ownerId" text, attempt int, status text, response text, "errorCode" text,
       "errorMessage" text, "latencyMs" int, "promptTokens" int, "completionTokens" int,
       "tokensEstimated" boolean, "toolsCalled" json, spans jsonb, events jsonb, "sessionKey" text,
       "leaseId" text, turn int, messages jsonb, together boolean)
  ), held AS MATERIALIZED (
    SELECT asked.key, sessions.id, asked.turn, asked.messages IS NOT NULL AS grows
    FROM asked JOIN sessions ON sessions.id = "sessionKey" AND lease_id = "leaseId"
      AND (NOT together OR turns = turn - 1)
    ORDER BY bot_id, environment, session_id
    FOR UPDATE OF sessions
  ), ended AS (
    UPDATE runs SET status = asked.status::"RunStatus", response = asked.response,
      error_code = "errorCode", error_message = "errorMessage", latency_ms = "latencyMs",
      prompt_tokens = "promptTokens", completion_tokens = "completionTokens",
      tokens_estimated = "tokensEstimated",
      tools_called = ARRAY(SELECT json_array_elements_text("toolsCalled")),
      spans = asked.spans, events = asked.events, finished_at = now()
    FROM asked
    WHERE runs.id = key AND runs.status = 'RUNNING' AND owner_id = "ownerId"
      AND runs.attempt = asked.attempt
      AND (NOT together OR "sessionKey" IS NULL OR key IN (SELECT key FROM held))
    RETURNING key
  ), given_back AS (
    UPDATE sessions
    SET lease_id = NULL, lease_owner = NULL,
      turns = CASE WHEN grows AND held.key IN (SELECT key FROM ended) THEN held.turn ELSE turns END
    FROM held WHERE sessions.id = held.id
  ), said AS (
    INSERT INTO messages (id, session_key, run_id, turn, position, role, text, tool_calls, tool_call_id)
    SELECT message.id, "sessionKey", key, turn, position, role::"MessageRole", text, "toolCalls", "toolCallId"
    FROM asked JOIN ended USING (key), jsonb_to_recordset(messages) AS message
      (id text, position int, role text, text text, "toolCalls" jsonb, "toolCallId" text)
  )
  SELECT key FROM ended
  UNION ALL
  SELECT key FROM asked JOIN runs ON runs.id = key AND owner_id = "ownerId"
    AND runs.attempt = asked.attempt AND runs.status = asked.status::"RunStatus"`);

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
