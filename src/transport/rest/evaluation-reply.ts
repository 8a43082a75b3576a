import { attempt, type Comparison, type Turn } from '../../evaluations/case-result.ts';
import type {
  EvaluationFactsFragment,
  ReadEvaluationQuery,
} from '../../generated/operations/rest.ts';
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

/** Maps a test or a recorded run with its results to its documented form. */
export function toCaseReply({
  name,
  runId,
  line,
  column,
  verdict,
  passedAttempts,
  attempts,
}: CaseData) {
  return {
    name,
    run_id: runId,
    line,
    column,
    verdict: verdict && toLowerCase(verdict),
    passed_attempts: passedAttempts,
    attempts: attempts.map((stored) => {
      const { turns, error = null, comparison, verdict } = attempt.parse(stored);
      return {
        verdict: toLowerCase(verdict),
        error,
        comparison: comparison ? toComparisonReply(comparison) : null,
        turns: turns.map(toTurnReply),
      };
    }),
  };
}

function toTurnReply({ message, reply, calls, expectations, ...turn }: Turn) {
  return {
    message,
    reply,
    calls,
    expectations: expectations.map(({ verdict, detail = null, ...rest }) => ({
      ...rest,
      verdict: toLowerCase(verdict),
      detail,
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
  judge,
  ...judged
}: Comparison) {
  const { reply, error = null, calls, promptTokens, completionTokens, latencyMs } = recorded;
  return {
    outcome: outcome === undefined ? null : toLowerCase(outcome),
    reason: judged.reason ?? null,
    new_reply: judged.newReply ?? null,
    call_changes: callChanges.map((one) => ({
      change: toLowerCase(one.change),
      name: one.name,
      arguments: one.arguments ?? null,
      recorded_arguments: one.recordedArguments ?? null,
    })),
    recorded: {
      reply,
      error,
      calls,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      latency_ms: latencyMs,
    },
    feedback: feedback.map(({ rating, note = null }) => ({ rating: toLowerCase(rating), note })),
    judge_prompt_tokens: judge.promptTokens,
    judge_completion_tokens: judge.completionTokens,
  };
}
