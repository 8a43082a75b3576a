import { hash } from 'node:crypto';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { isJsonObject, type JsonObject } from '../../text/json.ts';
import type { BegunRun } from '../record/begun-run.ts';
import type { ToolCallRecord, ToolRequest } from './tool-call.ts';

/** What a person is asked to approve. */
export type Question = {
  /** The definition's sentence for the person who decides. */
  reason: string | null;
  expiresSeconds: number;
  /** The request, without values of variables. */
  request: ToolRequest | null;
  /** The template values that the request uses. */
  values: JsonObject;
  /** From `digestOfApproved`. */
  digest: string;
  /** The chats of Telegram that are asked. */
  approvers: readonly number[];
};

/**
 * The outcome of asking:
 * - `asked`: the call waits.
 * - `equal`: an equal call of the same conversation or run waits already: the same tool of the same deployment, with arguments
 *   and template values that are equal as JSON values. The time does not count.
 * - `full`: the bot or the run has as many waiting calls as it may have.
 * - `draft`: a chat with a draft has no deployment that could make the call later.
 * - `lost`: the attempt no longer owns the run.
 */
export type Asked = 'asked' | 'equal' | 'full' | 'draft' | 'lost';

/** Notices on this channel hold the ids of approvals that changed. */
export function approvalsChannel(botId: string): string {
  return `approvals:${botId}`;
}

/** Notifies the workers that a call waits, or that a decision was made. */
export const WORK_CHANNEL = 'approvals-work';

/** The most waiting approvals of a bot. */
export const MAX_WAITING = 1_000;

/** The most waiting calls of a run. */
export const MAX_WAITING_OF_RUN = 16;

/**
 * Identifies what a person approves: the tool, its arguments, the request and its headers with the values of variables, the
 * deployment.
 */
export function digestOfApproved(approved: {
  deploymentId: string;
  name: string;
  /** The text of a JSON object. */
  arguments: string;
  request?: ToolRequest;
  headers?: Readonly<Record<string, string>>;
}): string {
  const { deploymentId, name, request, headers } = approved;
  const parts = [deploymentId, name, approved.arguments, request?.method, request?.url];
  return hash('sha256', JSON.stringify([...parts, request?.body, headers]));
}

/** Reads the template values of a waiting call. They are stored as a text, because the database would change the order of members. */
export function readValues(stored: unknown): JsonObject {
  const values = typeof stored === 'string' ? JSON.parse(stored) : stored;
  return isJsonObject(values) ? values : {};
}

/** Stores a call that waits for a person, together with its approval. Safe to repeat. */
export async function ask(
  prisma: PrismaClient,
  { id: runId, ownerId, attempt }: BegunRun,
  record: ToolCallRecord,
  { reason, expiresSeconds, request, values, digest, approvers }: Question,
): Promise<Asked> {
  const { id, name, position, callId } = record;
  const text = record.arguments;
  const stored = request && JSON.stringify(request);
  const [row] = await prisma.$queryRaw<{ outcome: Asked }[]>`
    WITH run AS (
      SELECT * FROM runs
      WHERE id = ${runId} AND (status = 'RUNNING' AND owner_id = ${ownerId} AND attempt = ${attempt}::int) IS TRUE
    ), waiting AS MATERIALIZED (
      SELECT (approvals.values #>> '{}')::jsonb AS values
      FROM run JOIN approvals USING (bot_id, environment, deployment_id) JOIN tool_calls ON tool_calls.id = approvals.id
      WHERE approvals.status = 'WAITING' AND tool_calls.digest = ${record.digest} AND expires_at > now()
        AND (approvals.session_id = run.session_id OR approvals.run_id = run.id)
    ), answer AS (
      SELECT CASE
        WHEN NOT EXISTS (SELECT 1 FROM run) THEN 'lost'
        WHEN EXISTS (SELECT 1 FROM approvals WHERE id = ${id}) THEN 'asked'
        WHEN EXISTS (SELECT 1 FROM run WHERE kind = 'DRAFT' OR deployment_id IS NULL) THEN 'draft'
        WHEN EXISTS (
          SELECT 1 FROM waiting WHERE values - 'now'::text = ${JSON.stringify(values)}::jsonb - 'now'::text
        ) THEN 'equal'
        WHEN (SELECT count(*) FROM (
          SELECT 1 FROM run JOIN approvals USING (bot_id) WHERE approvals.status = 'WAITING' LIMIT ${MAX_WAITING}::int
        ) AS counted) = ${MAX_WAITING}::int THEN 'full'
        ELSE 'asked'
      END AS outcome
    ), call AS (
      INSERT INTO tool_calls (id, run_id, position, call_id, name, digest, arguments, request, status, started_at)
      SELECT ${id}, id, ${position}::int, ${callId}, ${name}, ${record.digest}, ${text}, ${stored}::jsonb, 'WAITING',
        to_timestamp(${record.startedAt}::float8 / 1000)
      FROM run, answer WHERE outcome = 'asked'
      ON CONFLICT (id) DO NOTHING
    ), question AS (
      INSERT INTO approvals (id, bot_id, run_id, deployment_id, environment, channel, session_id, background, key_id, name,
        reason, arguments, request, values, digest, expires_at)
      SELECT ${id}, bot_id, id, deployment_id, environment, channel, session_id, background, key_id, ${name},
        ${reason}, ${text}, ${stored}::jsonb, to_jsonb(${JSON.stringify(values)}::text), ${digest}, now() + make_interval(secs => ${expiresSeconds}::int)
      FROM run, answer WHERE outcome = 'asked'
      ON CONFLICT (id) DO NOTHING
      RETURNING bot_id
    ), messages AS (
      INSERT INTO approval_messages (approval_id, chat_id)
      SELECT ${id}, chat_id FROM question, unnest(${approvers.map(String)}::text[]::bigint[]) AS chat_id
    ), logged AS (
      INSERT INTO audit_entries (id, account_id, action, key_id, bot_id, target_id)
      SELECT ${id.replace('tcl_', 'aud_')}, account_id, 'ASK_APPROVAL', NULL, bots.id, ${id}
      FROM question JOIN bots ON bots.id = bot_id
    )
    SELECT outcome FROM answer`;
  return row?.outcome ?? 'lost';
}
