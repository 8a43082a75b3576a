import { WAITING } from '../agent/call-tool.ts';
import type {
  FeedbackRating,
  Prisma,
  PrismaClient,
  Run,
  ToolCallStatus,
} from '../generated/prisma/client.ts';
import { type PromptRecord, readPromptRecord } from '../runs/record/prompt-record.ts';
import {
  type HistoryMessage,
  type Recollection,
  readRecalled,
  readRequestHistory,
} from '../sessions/history.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';
import type { MadeCall } from './case-result.ts';

/** A finished run with all that is needed to repeat it. */
export type RecordedRun = {
  id: string;
  message: string;
  context: JsonObject;
  /** The messages that the request sent before its own. */
  ownHistory: HistoryMessage[];
  /** The history and memory of its conversation. Undefined for a run outside any conversation. */
  recollection: Recollection | undefined;
  sessionId: string | undefined;
  /** ISO 8601. */
  now: string;
  outputSchema: JsonObject | undefined;
  withoutTools: boolean;
  reply: string;
  /** Why it failed. */
  error: string | undefined;
  calls: MadeCall[];
  promptTokens: number;
  completionTokens: number;
  /** Without the time of tool calls. */
  latencyMs: number;
  feedback: { rating: FeedbackRating; note?: string }[];
};

/**
 * Reads a run to repeat.
 *
 * @param withSession whether its history and memory are needed.
 * @returns the reason, a sentence, if what it needs is not stored.
 */
export type ReadRecordedRun = (
  botId: string,
  runId: string,
  withSession: boolean,
) => Promise<RecordedRun | { reason: string }>;

type StoredCall = {
  name: string;
  digest: string;
  arguments: string | null;
  result: string | null;
  status: ToolCallStatus;
  /** Milliseconds since 1970. */
  startedAt: number;
  finishedAt: number | null;
  /** Whether a person had to approve it. */
  hasApproval: boolean;
};

type StoredRun = Pick<
  Run,
  | 'id'
  | 'status'
  | 'input'
  | 'context'
  | 'history'
  | 'sessionId'
  | 'withoutTools'
  | 'response'
  | 'errorCode'
  | 'errorMessage'
  | 'promptTokens'
  | 'completionTokens'
  | 'latencyMs'
> & {
  prompt: Prisma.JsonValue;
  feedback: { rating: FeedbackRating; note: string | null }[];
  toolCalls: StoredCall[];
};

const DELETED = 'The run no longer exists.';
const NOT_FINISHED = 'The run was cancelled, or it has not ended.';
const NO_PROMPT = 'What the run sent to the model is not stored, or no longer.';
const NO_TEXTS = 'The arguments and results of its tool calls are not stored, or no longer.';
const NO_HISTORY = 'The history that it sent to the model is no longer stored.';
const NO_FACTS = 'The memory that it sent to the model was too long to store.';

export function createReadRecordedRun({ prisma }: { prisma: PrismaClient }): ReadRecordedRun {
  /** The messages of the conversation that were sent; undefined if some are gone. */
  const historyOf = async ({ history }: PromptRecord): Promise<HistoryMessage[] | undefined> => {
    if (!history) return [];
    const latest = await prisma.message.findMany({
      where: { sessionKey: history.session, turn: { lte: history.turn } },
      orderBy: [{ turn: 'desc' }, { position: 'desc' }],
      take: history.messages,
      select: { role: true, text: true, toolCalls: true, toolCallId: true },
    });
    if (latest.length < history.messages) return undefined;
    return readRecalled({ messages: latest.reverse(), facts: null }).messages;
  };

  return async (botId, id, withSession) => {
    // One statement: Prisma sends one for each relation, which costs as much as the rest of a case.
    const [run] = await prisma.$queryRaw<StoredRun[]>`
      SELECT runs.id, runs.status, input, context, history, session_id AS "sessionId", without_tools AS "withoutTools",
        response, error_code AS "errorCode", error_message AS "errorMessage", prompt_tokens AS "promptTokens",
        completion_tokens AS "completionTokens", latency_ms AS "latencyMs", prompt,
        COALESCE((
          SELECT jsonb_agg(jsonb_build_object('rating', rating, 'note', note) ORDER BY author)
          FROM feedback WHERE feedback.run_id = runs.id), '[]') AS feedback,
        COALESCE((
          SELECT jsonb_agg(jsonb_build_object('name', calls.name, 'digest', calls.digest, 'arguments', calls.arguments,
            'result', calls.result, 'status', calls.status, 'startedAt', extract(epoch FROM started_at) * 1000,
            'finishedAt', extract(epoch FROM finished_at) * 1000, 'hasApproval', approvals.id IS NOT NULL) ORDER BY position)
          FROM tool_calls AS calls LEFT JOIN approvals ON approvals.id = calls.id
          WHERE calls.run_id = runs.id), '[]') AS "toolCalls"
      FROM runs LEFT JOIN run_prompts ON run_prompts.run_id = runs.id
      WHERE runs.id = ${id} AND runs.bot_id = ${botId}`;
    if (!run) return { reason: DELETED };
    if (run.status !== 'COMPLETED' && run.status !== 'FAILED') return { reason: NOT_FINISHED };
    if (run.prompt === null) return { reason: NO_PROMPT };
    if (run.toolCalls.some(isErased)) return { reason: NO_TEXTS };
    const record = readPromptRecord(run.prompt);
    if (withSession && record.hasMoreFacts) return { reason: NO_FACTS };
    const messages = withSession ? await historyOf(record) : [];
    if (!messages) return { reason: NO_HISTORY };
    const facts = withSession ? (record.facts ?? {}) : {};
    return {
      id,
      message: run.input,
      context: isJsonObject(run.context) ? run.context : {},
      ownHistory: readRequestHistory(run.history) ?? [],
      recollection: run.sessionId === null ? undefined : { messages, facts },
      sessionId: run.sessionId ?? undefined,
      now: record.now,
      outputSchema: record.outputSchema,
      withoutTools: run.withoutTools,
      reply: run.response ?? '',
      error: run.status === 'FAILED' ? (run.errorMessage ?? run.errorCode ?? 'failed') : undefined,
      calls: run.toolCalls.flatMap(recordedCall),
      promptTokens: run.promptTokens,
      completionTokens: run.completionTokens,
      latencyMs: Math.max(0, (run.latencyMs ?? 0) - timeOfTools(run.toolCalls)),
      feedback: run.feedback.map(({ rating, note }) => ({
        rating,
        ...(note !== null && { note }),
      })),
    };
  };
}

function isErased({ arguments: text, result, hasApproval, status }: StoredCall): boolean {
  return text === null || (result === null && !hasApproval && status !== 'RUNNING');
}

/** The call as its run had it: an approval is decided after the run. A call beyond the limit had no result. */
function recordedCall({ name, digest, arguments: text, result, ...call }: StoredCall) {
  if (call.status === 'REFUSED' || text === null) return [];
  if (call.hasApproval) return [{ name, digest, arguments: text, result: WAITING, failed: false }];
  if (result === null) return [];
  return [{ name, digest, arguments: text, result, failed: call.status !== 'COMPLETED' }];
}

/** The time in which at least one call was in progress, in milliseconds. */
function timeOfTools(calls: readonly StoredCall[]): number {
  let until = 0;
  let sum = 0;
  const spans = calls.flatMap(({ startedAt, finishedAt, hasApproval }) =>
    finishedAt !== null && !hasApproval ? [{ start: startedAt, end: finishedAt }] : [],
  );
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}
