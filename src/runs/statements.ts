import { recalled } from '../sessions/history.ts';
import { LEASE_COLUMNS, TAKE_ASKED } from '../sessions/turns.ts';
import { statement } from '../storage/sql.ts';

const RUN_COLUMNS = `key text, "deploymentId" text, kind text, channel text, input text, context jsonb,
  model text, metadata jsonb, "traceId" text, "onDisconnect" text, attempt int`;

/** Inserts the runs of `asked`. `BEGIN_TURN` restricts it to runs that acquired their turn. */
const BEGIN_ASKED = `
  INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, session_id, input, context,
    model, metadata, trace_id, on_disconnect, owner_id, attempt, started_at)
  SELECT asked.key, "botId", "deploymentId", environment::"Environment", kind::"RunKind", 'RUNNING',
    channel::"Channel", "sessionId", input, context, model, metadata, "traceId",
    COALESCE("onDisconnect", 'CANCEL')::"OnDisconnect", "ownerId", attempt, now()
  FROM asked`;

export const BEGIN = statement(`
  WITH asked AS (
    SELECT * FROM json_to_recordset($1) AS asked
      (${RUN_COLUMNS}, "botId" text, environment text, "sessionId" text, "ownerId" text)
  )
  ${BEGIN_ASKED}
  ON CONFLICT (id) DO NOTHING
  RETURNING id AS key`);

/**
 * Acquires free turns of sessions, inserts their runs, and recalls their history and memory. The recalled data is that
 * of the statement's snapshot: if the previous turn was released after the snapshot, `isCurrent` is false. A repeat
 * after a lost response returns the same.
 */
export const BEGIN_TURN = statement(`
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS asked (${RUN_COLUMNS}, ${LEASE_COLUMNS}, "limit" int)
  ), taken AS (
    ${TAKE_ASKED}
  ), begun AS (
    ${BEGIN_ASKED}, taken WHERE taken.key = "leaseId"
    ON CONFLICT (id) DO NOTHING
  )
  SELECT asked.key, taken.id AS "sessionKey", taken.turns,
    taken.id = "sessionKey" OR EXISTS (
      SELECT 1 FROM sessions
      WHERE sessions.id = taken.id AND sessions.turns = taken.turns AND COALESCE(lease_id = "leaseId", true)
    ) AS "isCurrent",
    ${recalled('taken.id')}
  FROM asked JOIN taken ON taken.key = "leaseId"`);

/**
 * Matches the run of `asked` if it has the status and belongs to this attempt. `IS TRUE` makes PostgreSQL use the
 * primary key instead of the index on status and owner, which holds all runs that the process ever executed.
 */
function isStill(status: string): string {
  return `runs.id = key
      AND (runs.status = ${status} AND owner_id = "ownerId" AND runs.attempt = asked.attempt) IS TRUE`;
}

export const CHECKPOINT = statement(`
  UPDATE runs SET response = asked.response, events = asked.events, spans = asked.spans
  FROM json_to_recordset($1) AS asked
    (key text, "ownerId" text, attempt int, response text, events jsonb, spans jsonb)
  WHERE ${isStill("'RUNNING'")}`);

/**
 * Stores outcomes of runs and ends of turns. Locks the sessions in the same order as `TAKE_ASKED`, to avoid deadlocks.
 * A repeat after a lost response returns the same.
 */
export const END = statement(`
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
    WHERE ${isStill("'RUNNING'")} AND (NOT together OR "sessionKey" IS NULL OR key IN (SELECT key FROM held))
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
  SELECT key FROM asked, runs WHERE ${isStill('asked.status::"RunStatus"')}`);
