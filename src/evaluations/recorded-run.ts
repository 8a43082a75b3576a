import { WAITING } from '../agent/call-tool.ts';
import type { FeedbackRating, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { type PromptRecord, readPromptRecord } from '../runs/record/prompt-record.ts';
import {
  type HistoryMessage,
  type Recollection,
  readRecalled,
  readRequestHistory,
} from '../sessions/history.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';

/** A tool call of a recorded run. */
export type RecordedCall = {
  /** `<group>.<capability>` */
  name: string;
  /** From `digestOf`: equal for equal calls. */
  digest: string;
  /** The text of a JSON object. */
  arguments: string;
  /** What the model got. */
  result: string;
  failed: boolean;
};

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
  calls: RecordedCall[];
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

const SELECT = {
  id: true,
  status: true,
  input: true,
  context: true,
  history: true,
  sessionId: true,
  withoutTools: true,
  response: true,
  errorCode: true,
  errorMessage: true,
  promptTokens: true,
  completionTokens: true,
  latencyMs: true,
  prompt: { select: { prompt: true } },
  feedback: { select: { rating: true, note: true }, orderBy: { author: 'asc' } },
  toolCalls: {
    orderBy: { position: 'asc' },
    select: {
      name: true,
      digest: true,
      arguments: true,
      result: true,
      status: true,
      startedAt: true,
      finishedAt: true,
      approval: { select: { id: true } },
    },
  },
} satisfies Prisma.RunSelect;

type StoredRun = Prisma.RunGetPayload<{ select: typeof SELECT }>;

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
    const run = await prisma.run.findFirst({ where: { id, botId }, select: SELECT });
    if (!run) return { reason: DELETED };
    if (run.status !== 'COMPLETED' && run.status !== 'FAILED') return { reason: NOT_FINISHED };
    if (!run.prompt) return { reason: NO_PROMPT };
    if (run.toolCalls.some(isErased)) return { reason: NO_TEXTS };
    const record = readPromptRecord(run.prompt.prompt);
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

type StoredCall = StoredRun['toolCalls'][number];

function isErased({ arguments: text, result, approval, status }: StoredCall): boolean {
  return text === null || (result === null && !approval && status !== 'RUNNING');
}

/** The call as its run had it: an approval is decided after the run. A call beyond the limit had no result. */
function recordedCall({ name, digest, arguments: text, result, ...call }: StoredCall) {
  if (call.status === 'REFUSED' || text === null) return [];
  if (call.approval) return [{ name, digest, arguments: text, result: WAITING, failed: false }];
  if (result === null) return [];
  return [{ name, digest, arguments: text, result, failed: call.status !== 'COMPLETED' }];
}

/** The time in which at least one call was in progress, in milliseconds. */
function timeOfTools(calls: readonly StoredCall[]): number {
  let until = 0;
  let sum = 0;
  const spans = calls.flatMap(({ startedAt, finishedAt, approval }) =>
    finishedAt && !approval ? [{ start: startedAt.getTime(), end: finishedAt.getTime() }] : [],
  );
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}
