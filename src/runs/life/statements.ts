import { CLAIM_COLUMNS, claimKeys } from '../../idempotency/claim.ts';
import { recalled } from '../../sessions/history.ts';
import { acquireTurns, LEASE_COLUMNS } from '../../sessions/lease.ts';
import { statement } from '../../storage/sql.ts';
import { storeCalls } from '../tool-calls/tool-call.ts';

const RUN_COLUMNS = `key text, status text, "deploymentId" text, kind text, channel text, entrance text, input text, context jsonb,
  model text, metadata jsonb, "traceId" text, "onDisconnect" text, "keyId" text, "causedById" text, attempt int, "accountId" text,
  traceparent text, client text, "outputSchema" jsonb, history jsonb, "withoutTools" boolean`;

/** A time as milliseconds since 1970. */
function milliseconds(time: string): string {
  return `(extract(epoch FROM ${time}) * 1000)::float8`;
}

/**
 * Claims idempotency keys, acquires turns of sessions, inserts runs, and recalls the history and memory of the
 * sessions. A request that does not get its key acquires no turn; one that does not get its turn inserts no run, but
 * keeps its key. Locks the records, then the sessions. History and memory are read in the statement's own snapshot: if the
 * previous turn was released after the snapshot, `isCurrent` is false. A repeat after a lost response returns the same,
 * but for `answeredAt`, the database's time of the response.
 */
export const BEGIN = statement(`
  WITH requested AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS requested
      (${RUN_COLUMNS}, ${LEASE_COLUMNS}, "limit" int, ${CLAIM_COLUMNS})
  ), claimed AS (
    ${claimKeys('requested')}
  ), admitted AS MATERIALIZED (
    SELECT * FROM requested WHERE "claimId" IS NULL OR "claimId" IN (SELECT claim_id FROM claimed)
  ), acquired AS (
    ${acquireTurns('admitted')}
  ), begun AS (
    INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, entrance, session_id, input, context, model,
      metadata, trace_id, on_disconnect, key_id, caused_by_id, owner_id, attempt, started_at, background, account_id, traceparent,
      client, output_schema, history, without_tools)
    SELECT key, "botId", "deploymentId", environment::"Environment", kind::"RunKind", status::"RunStatus",
      channel::"Channel", entrance::"Entrance", "sessionId", input, context, model, metadata, "traceId",
      COALESCE("onDisconnect", 'CANCEL')::"OnDisconnect", "keyId", "causedById", CASE status WHEN 'RUNNING' THEN "ownerId" END, attempt,
      CASE status WHEN 'RUNNING' THEN now() END, status = 'QUEUED', "accountId", traceparent, client, "outputSchema", history,
      COALESCE("withoutTools", false)
    FROM admitted WHERE "leaseId" IS NULL OR "leaseId" IN (SELECT key FROM acquired)
    ON CONFLICT (id) DO NOTHING
    RETURNING id, created_at
  )
  SELECT requested.key,
    CASE
      WHEN admitted.key IS NULL THEN 'keyTaken'
      WHEN requested."leaseId" IS NOT NULL AND acquired.key IS NULL THEN 'turnBusy'
      ELSE 'begun'
    END AS outcome,
    acquired.id AS "sessionKey", acquired.turns,
    acquired.id = requested."sessionKey" OR EXISTS (
      SELECT 1 FROM sessions
      WHERE sessions.id = acquired.id AND sessions.turns = acquired.turns
        AND COALESCE(lease_id = requested."leaseId", true)
    ) AS "isCurrent",
    ${recalled('acquired.id', 'requested."limit"')},
    -- A repeat finds the run that the first statement has created.
    ${milliseconds('COALESCE(begun.created_at, (SELECT created_at FROM runs WHERE runs.id = requested.key), now())')}
      AS "createdAt",
    ${milliseconds('clock_timestamp()')} AS "answeredAt"
  FROM requested
    LEFT JOIN admitted ON admitted.key = requested.key
    LEFT JOIN begun ON begun.id = requested.key
    LEFT JOIN acquired ON acquired.key = requested."leaseId"`);

/**
 * Matches the run of `requested` if it has the status and belongs to this attempt. `IS TRUE` makes PostgreSQL use the
 * primary key instead of the index on status and owner, which holds all runs that the process ever executed.
 */
function isStill(status: string): string {
  return `runs.id = key
      AND (runs.status = ${status} AND owner_id = "ownerId" AND runs.attempt = requested.attempt) IS TRUE`;
}

/** Stores what an attempt at a queued run knows at its start. The stored spans belong to an earlier attempt. */
export const RESUME = statement(`
  UPDATE runs SET deployment_id = "deploymentId", model = requested.model, trace_id = "traceId",
    session_id = "sessionId", spans = NULL
  FROM json_to_recordset($1) AS requested
    (key text, "ownerId" text, attempt int, "deploymentId" text, model text, "traceId" text, "sessionId" text)
  WHERE ${isStill("'RUNNING'")}
  RETURNING key, cancel_requested AS "cancelRequested"`);

/**
 * Appends pieces of what runs have emitted. A repeat of a piece whose outcome is unknown may contain more events, so it
 * replaces the piece.
 */
export const PROGRESS = statement(`
  INSERT INTO run_progress (run_id, attempt, from_seq, response, events, event_times, spans)
  SELECT key, requested.attempt, "fromSeq", requested.response, requested.events, "eventTimes", requested.spans
  FROM json_to_recordset($1) AS requested
    (key text, "ownerId" text, attempt int, "fromSeq" int, response text, events jsonb, "eventTimes" int[], spans jsonb)
    JOIN runs ON ${isStill("'RUNNING'")}
  ON CONFLICT (run_id, attempt, from_seq) DO UPDATE SET
    response = excluded.response, events = excluded.events, event_times = excluded.event_times, spans = excluded.spans`);

/**
 * Stores outcomes of runs and ends of turns. Locks the sessions in the same order as `BEGIN`, to avoid deadlocks.
 * A repeat after a lost response returns the same.
 */
export const END = statement(`
  WITH requested AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS requested
      (key text, "ownerId" text, attempt int, status text, response text, output jsonb, "errorCode" text,
       "errorMessage" text, "errorDetail" text, "latencyMs" int, "promptTokens" int, "completionTokens" int,
       "tokensEstimated" boolean, "cachedTokens" int, "reasoningTokens" int, "finishReason" text, model text, "toolsCalled" json, spans jsonb, events jsonb, "eventTimes" int[],
       "sessionKey" text, "leaseId" text, turn int, messages jsonb, "requiresTurn" boolean, prompt jsonb, "toolCalls" jsonb, "hasProgress" boolean)
  ), held AS MATERIALIZED (
    SELECT requested.key, sessions.id, requested.turn, requested.messages IS NOT NULL AS grows
    FROM requested JOIN sessions ON sessions.id = "sessionKey" AND lease_id = "leaseId"
      AND (NOT "requiresTurn" OR turns = turn - 1)
    ORDER BY bot_id, environment, session_id
    FOR UPDATE OF sessions
  ), ended AS (
    UPDATE runs SET status = requested.status::"RunStatus", response = requested.response,
      output = requested.output, error_code = "errorCode", error_message = "errorMessage",
      error_detail = "errorDetail", latency_ms = "latencyMs",
      prompt_tokens = "promptTokens", completion_tokens = "completionTokens",
      tokens_estimated = "tokensEstimated", cached_tokens = "cachedTokens", reasoning_tokens = "reasoningTokens",
      finish_reason = "finishReason", model = COALESCE(requested.model, runs.model),
      tools_called = ARRAY(SELECT json_array_elements_text("toolsCalled")),
      spans = requested.spans, events = requested.events, event_times = "eventTimes", finished_at = now()
    FROM requested
    WHERE ${isStill("'RUNNING'")} AND (NOT "requiresTurn" OR "sessionKey" IS NULL OR key IN (SELECT key FROM held))
    RETURNING key, finished_at
  ), released AS (
    UPDATE sessions
    SET lease_id = NULL, lease_owner = NULL,
      turns = CASE WHEN grows AND held.key IN (SELECT key FROM ended) THEN held.turn ELSE turns END
    FROM held WHERE sessions.id = held.id
  ), appended AS (
    INSERT INTO messages (id, session_key, run_id, turn, position, role, text, tool_calls, tool_call_id)
    SELECT message.id, "sessionKey", key, turn, position, role::"MessageRole", text, message."toolCalls", "toolCallId"
    FROM requested JOIN ended USING (key), jsonb_to_recordset(messages) AS message
      (id text, position int, role text, text text, "toolCalls" jsonb, "toolCallId" text)
  ), prompted AS (
    INSERT INTO run_prompts (run_id, prompt)
    SELECT key, prompt FROM requested JOIN ended USING (key) WHERE prompt IS NOT NULL
    ON CONFLICT (run_id) DO NOTHING
  ), recorded AS (
    ${storeCalls('requested JOIN ended USING (key)', '"toolCalls"')}
  ), settled AS (
    DELETE FROM run_progress WHERE run_id IN (SELECT key FROM requested JOIN ended USING (key) WHERE "hasProgress")
  )
  SELECT key, ${milliseconds('finished_at')} AS "finishedAt" FROM ended
  UNION ALL
  SELECT key, ${milliseconds('finished_at')} FROM requested, runs WHERE ${isStill('requested.status::"RunStatus"')}`);
