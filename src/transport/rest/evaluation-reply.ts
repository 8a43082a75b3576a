import type {
  AttemptTurnFragment,
  EvaluationFactsFragment,
  ReadEvaluationQuery,
  RunComparisonFragment,
} from '../../generated/operations/rest.ts';
import { writeCursor } from '../../storage/keyset.ts';
import { toLowerCase } from '../../vocabulary/names.ts';

/** Maps an evaluation to its documented form. */
export function toEvaluationReply(evaluation: EvaluationFactsFragment) {
  return {
    evaluation_id: evaluation.id,
    status: toLowerCase(evaluation.status),
    verdict: evaluation.verdict && toLowerCase(evaluation.verdict),
    note: evaluation.note,
    environment: toLowerCase(evaluation.environment),
    source_hash: evaluation.sourceHash,
    model: evaluation.model,
    judge_model: evaluation.judgeModel,
    repeat: evaluation.repeat,
    cases: evaluation.cases,
    passed: evaluation.passed,
    failed: evaluation.failed,
    diverged: evaluation.diverged,
    skipped: evaluation.skipped,
    prompt_tokens: evaluation.promptTokens,
    completion_tokens: evaluation.completionTokens,
    created_at: evaluation.createdAt.toISOString(),
    started_at: evaluation.startedAt?.toISOString() ?? null,
    finished_at: evaluation.finishedAt?.toISOString() ?? null,
  };
}

type CaseData = ReadEvaluationQuery['evaluation']['results'][number];

/** Maps a page of results. One more than the page has, which means that another page follows, is left out. */
export function toResultsReply(results: readonly CaseData[], limit: number) {
  const page = results.slice(0, limit);
  const last = page.length < results.length ? page.at(-1) : undefined;
  return { results: page.map(toCaseReply), next_cursor: last ? writeCursor([0, last.id]) : null };
}

/** Maps a test or a recorded run with its results to its documented form. */
function toCaseReply({ name, runId, line, column, verdict, passedAttempts, attempts }: CaseData) {
  return {
    name,
    run_id: runId,
    line,
    column,
    verdict: verdict && toLowerCase(verdict),
    passed_attempts: passedAttempts,
    attempts: attempts.map(({ turns, error, comparison, verdict }) => ({
      verdict: toLowerCase(verdict),
      error,
      comparison: comparison && toComparisonReply(comparison),
      turns: turns.map(toTurnReply),
    })),
  };
}

function toTurnReply({ message, reply, calls, expectations, ...turn }: AttemptTurnFragment) {
  return {
    message,
    reply,
    calls,
    expectations: expectations.map(({ verdict, ...rest }) => ({
      ...rest,
      verdict: toLowerCase(verdict),
    })),
    prompt_tokens: turn.promptTokens,
    completion_tokens: turn.completionTokens,
    latency_ms: turn.latencyMs,
  };
}

function toComparisonReply({
  outcome,
  callChanges,
  recorded,
  feedback,
  ...judged
}: RunComparisonFragment) {
  const { reply, error, calls, promptTokens, completionTokens, latencyMs } = recorded;
  return {
    outcome: outcome && toLowerCase(outcome),
    reason: judged.reason,
    new_reply: judged.newReply,
    call_changes: callChanges.map((one) => ({
      change: toLowerCase(one.change),
      name: one.name,
      arguments: one.arguments,
      recorded_arguments: one.recordedArguments,
    })),
    recorded: {
      reply,
      error,
      calls,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      latency_ms: latencyMs,
    },
    feedback: feedback.map(({ rating, note }) => ({ rating: toLowerCase(rating), note })),
    judge_prompt_tokens: judged.judgePromptTokens,
    judge_completion_tokens: judged.judgeCompletionTokens,
  };
}
