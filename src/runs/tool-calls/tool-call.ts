import { hash } from 'node:crypto';
import { z } from 'zod';

export type { ToolCallStatus } from '../../generated/prisma/client.ts';

import type { ToolCallStatus } from '../../generated/prisma/client.ts';
import { statement } from '../../storage/sql.ts';
import type { JsonValue } from '../../text/json.ts';

/** What a call of a tool may do outside the server. */
export type ToolEffect =
  /** It only reads, so it may be sent any number of times. */
  | 'reads'
  /** It may change something, so it is sent at most once. */
  | 'changes'
  /** It may change something, and its service performs requests with the same key once. */
  | 'repeatable';

/**
 * The HTTP request of a call, without values of variables. `body` has at most 48 Ki characters; the end of a
 * longer one says that it was cut.
 */
const toolRequest = z.object({
  method: z.string(),
  url: z.string(),
  body: z.string().optional(),
});

export type ToolRequest = z.infer<typeof toolRequest>;

export function readToolRequest(stored: unknown): ToolRequest | null {
  return toolRequest.nullable().parse(stored);
}

/** A tool call as its row stores it. Texts hold no values of variables. Times are in milliseconds since 1970. */
export type ToolCallRecord = {
  /** `tcl_…` */
  readonly id: string;
  /** Counts the calls of the run from 0, over all attempts. */
  readonly position: number;
  /** The model's id of the call, up to 256 characters. */
  readonly callId: string;
  /** `<group>.<capability>` */
  readonly name: string;
  /** From `digestOf`. */
  readonly digest: string;
  /** The text of a JSON object, up to 64 KiB. Null if texts are not stored. */
  readonly arguments: string | null;
  request: ToolRequest | null;
  status: ToolCallStatus;
  /** What the model got, up to 64 KiB. Null before that, or if texts are not stored. */
  result: string | null;
  httpStatus: number | null;
  /** The `Idempotency-Key` of the request. Null for a call that only reads. */
  idempotencyKey: string | null;
  startedAt: number;
  finishedAt: number | null;
};

/** Identifies equal calls: the same tool, and arguments that are equal as JSON values. */
export function digestOf(name: string, input: JsonValue): string {
  return hash('sha256', JSON.stringify([name, sorted(input)]));
}

/** Arguments are at most so deep; no tool is called with deeper ones. */
const MAX_DEPTH = 32;

/** A value with the members of its objects in alphabetical order. Values beyond `MAX_DEPTH` are left out. */
function sorted(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((one) => sorted(one, depth + 1));
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member, depth + 1)]));
}

/** The columns of a record in `json_to_recordset`. */
const RECORD_COLUMNS = `id text, position int, "callId" text, name text, digest text, arguments text, request jsonb,
  status text, result text, "httpStatus" int, "idempotencyKey" text, "startedAt" float8, "finishedAt" float8`;

const time = (column: string) => `to_timestamp(${column} / 1000)`;

/**
 * Inserts the records of a relation `call`, which has the columns of `RECORD_COLUMNS`. A record that exists is replaced if its
 * outcome is open: a call that waits for a person, or that has ended, stays as it is.
 */
const insertFrom = (runId: string, relation: string) => `
  INSERT INTO tool_calls (id, run_id, position, call_id, name, digest, arguments, request, status, result, http_status,
    idempotency_key, started_at, finished_at)
  SELECT call.id, ${runId}, call.position, call."callId", call.name, call.digest, call.arguments, call.request,
    call.status::"ToolCallStatus", call.result, call."httpStatus", call."idempotencyKey", ${time('call."startedAt"')},
    ${time('call."finishedAt"')}
  FROM ${relation}
  ON CONFLICT (id) DO UPDATE SET status = excluded.status, request = excluded.request, result = excluded.result,
    http_status = excluded.http_status, finished_at = excluded.finished_at
  WHERE tool_calls.status IN ('RUNNING', 'UNKNOWN')`;

/** SQL that stores the records of `calls`, a column of JSON of the relation, for the run `key`. */
export function storeCalls(relation: string, calls: string): string {
  return insertFrom('key', `${relation}, jsonb_to_recordset(${calls}) AS call (${RECORD_COLUMNS})`);
}

/** Stores records of calls before their requests leave, if the attempt still owns the run. */
export const WRITE_AHEAD = statement(`
  WITH call AS MATERIALIZED (
    SELECT requested.*, runs.id AS "ownRun" FROM json_to_recordset($1) AS requested
      (key text, "runId" text, "ownerId" text, attempt int, ${RECORD_COLUMNS})
      JOIN runs ON runs.id = "runId"
        AND (runs.status = 'RUNNING' AND owner_id = "ownerId" AND runs.attempt = requested.attempt) IS TRUE
  )
  ${insertFrom('call."ownRun"', 'call')}
  RETURNING id AS key`);

/** Stores how calls ended. */
export const FINISH = statement(`
  UPDATE tool_calls SET status = call.status::"ToolCallStatus", result = call.result, http_status = call."httpStatus",
    finished_at = ${time('call."finishedAt"')}
  FROM json_to_recordset($1) AS call (key text, ${RECORD_COLUMNS})
  WHERE tool_calls.id = call.key
  RETURNING tool_calls.id AS key`);
