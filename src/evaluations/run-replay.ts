import { createHash } from 'node:crypto';
import type { Agent } from '../agent/agent.ts';
import type { Script } from '../agent/scripted-agent.ts';
import { GatewayError } from '../errors/errors.ts';
import {
  type Attempt,
  type CallChange,
  type Comparison,
  type MadeCall,
  shortened,
  shortenedArguments,
  storedCall,
  type Turn,
  type Verdict,
} from './case-result.ts';
import { compareCalls } from './compare-calls.ts';
import { type Answer, converse, isModelAway, latest } from './converse.ts';
import { type EvaluatedDeployment, type Judge, NO_USAGE } from './judge.ts';
import { aboutPair, outcomeOf } from './questions.ts';
import type { RecordedRun } from './recorded-run.ts';
import { createRecordedScript } from './recorded-script.ts';

/**
 * Repeats a recorded run with another definition: its message, context, history, memory and time, and the recorded results
 * of its tools. Nothing is sent but calls of models.
 *
 * @param caseId decides, by its hash, in which order the model that judges reads the two replies.
 * @throws GatewayError if the model cannot be reached: that says nothing about the definition.
 */
export type RunReplay = (
  deployment: EvaluatedDeployment,
  run: RecordedRun,
  caseId: string,
  signal: AbortSignal,
) => Promise<Attempt>;

const SESSION = { key: 'replay', turns: 0, leaseId: 'replay' };
/** Characters of a text in the result of a replay. An evaluation has up to 500. */
const MAX_REPLAY_TEXT = 4 * 1024;
/** Calls in the result of a replay. */
const MAX_CALLS = 20;

/** What a comparison says, without the facts of the recorded run. */
type Judged = { verdict: Verdict } & Pick<Comparison, 'outcome' | 'reason' | 'newReply' | 'judge'>;

export function createRunReplay({
  scriptedAgent,
  judge,
}: {
  scriptedAgent: (script: Script) => Agent;
  judge: Judge;
}): RunReplay {
  /** Compares replies that differ. */
  const judged = async (
    deployment: EvaluatedDeployment,
    run: RecordedRun,
    reply: string,
    caseId: string,
    signal: AbortSignal,
  ): Promise<Judged> => {
    if (run.error !== undefined)
      return { verdict: 'PASSED', outcome: 'BETTER', reason: ONLY_OLD_FAILED, judge: NO_USAGE };
    if (reply.trim() === run.reply.trim())
      return { verdict: 'PASSED', outcome: 'EQUAL', judge: NO_USAGE };
    const newReply = letterOf(caseId);
    const { message, reply: recordedReply, feedback } = run;
    const question = aboutPair({ message, newReply: reply, recordedReply, feedback }, newReply);
    const { usage, ...result } = await judge(deployment, question, signal);
    if ('skipped' in result)
      return { verdict: 'SKIPPED', reason: result.skipped, newReply, judge: usage };
    const outcome = outcomeOf(result.answer, newReply);
    const verdict = outcome === 'WORSE' ? 'FAILED' : 'PASSED';
    const reason = deployment.redactor.redact(String(result.answer.reason));
    return { verdict, outcome, reason: shortened(reason, MAX_REPLAY_TEXT), newReply, judge: usage };
  };

  return async (deployment, run, caseId, signal) => {
    const { redactor, definition } = deployment;
    const { script, facts, unrecorded } = createRecordedScript(run, redactor);
    const { recollection, message, context, sessionId, now, outputSchema, withoutTools } = run;
    const messages = latest(recollection?.messages ?? [], definition.history);
    const task = {
      deployment,
      ...(recollection && { session: SESSION, recollection: { messages, facts: { ...facts } } }),
      ...(sessionId !== undefined && { sessionId }),
      message,
      history: run.ownHistory,
      context,
      now,
      outputSchema,
      withoutTools,
    };
    const turn: Turn = {
      message: shortened(message, MAX_REPLAY_TEXT),
      reply: '',
      calls: [],
      expectations: [],
      promptTokens: 0,
      completionTokens: 0,
      latencyMs: 0,
    };
    const compared = (
      made: readonly MadeCall[],
      { verdict, ...judgement }: Judged,
      error?: string,
    ) => {
      const { promptTokens, completionTokens, latencyMs, feedback } = run;
      const recorded = {
        reply: shortened(run.reply, MAX_REPLAY_TEXT),
        ...(run.error !== undefined && { error: shortened(run.error, MAX_REPLAY_TEXT) }),
        calls: run.calls.slice(0, MAX_CALLS).map((call) => storedCall(call, MAX_CALL_TEXT)),
        promptTokens,
        completionTokens,
        latencyMs,
      };
      const callChanges = compareCalls(made, run.calls).slice(0, MAX_CALLS).map(shortChange);
      const comparison: Comparison = { ...judgement, callChanges, recorded, feedback };
      return {
        verdict,
        ...(error !== undefined && { error: shortened(error, MAX_REPLAY_TEXT) }),
        turns: [turn],
        comparison,
      };
    };
    const diverged = (calls: readonly MadeCall[], call: string) =>
      compared(
        calls,
        { verdict: 'DIVERGED', judge: NO_USAGE },
        `The call ${call} was not recorded.`,
      );

    let answer: Answer;
    try {
      answer = await converse(scriptedAgent(script), task, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError) || isModelAway(error)) throw error;
      const [missing] = unrecorded;
      if (missing !== undefined) return diverged([], missing);
      const judgement: Judged =
        run.error === undefined
          ? { verdict: 'FAILED', outcome: 'WORSE', reason: ONLY_NEW_FAILED, judge: NO_USAGE }
          : { verdict: 'PASSED', outcome: 'SAME', reason: BOTH_FAILED, judge: NO_USAGE };
      return compared([], judgement, error.message);
    }
    const { calls, reply, promptTokens, completionTokens, latencyMs } = answer;
    Object.assign(turn, {
      reply: shortened(reply, MAX_REPLAY_TEXT),
      calls: calls.slice(0, MAX_CALLS).map((call) => storedCall(call, MAX_CALL_TEXT)),
      promptTokens,
      completionTokens,
      latencyMs,
    });
    const [missing] = unrecorded;
    if (missing !== undefined) return diverged(calls, missing);
    return compared(calls, await judged(deployment, run, reply, caseId, signal));
  };
}

const ONLY_OLD_FAILED = 'The recorded run failed, and the new one did not.';
const ONLY_NEW_FAILED = 'The new run failed, and the recorded one did not.';
const BOTH_FAILED = 'Both runs failed.';

/** The letter of the new reply, by a hash of the case, so that no judge can know it. */
function letterOf(caseId: string): 'A' | 'B' {
  const [byte = 0] = createHash('sha256').update(caseId).digest();
  return byte % 2 === 0 ? 'A' : 'B';
}

/** Characters of the arguments and of the result of a call. */
const MAX_CALL_TEXT = 1024;

function shortChange({ arguments: made, recordedArguments, ...change }: CallChange): CallChange {
  const short = (text: string) => shortenedArguments(text, MAX_CALL_TEXT);
  return {
    ...change,
    ...(made !== undefined && { arguments: short(made) }),
    ...(recordedArguments !== undefined && { recordedArguments: short(recordedArguments) }),
  };
}
