import type { AgentTask } from '../agent/agent.ts';
import type { ErrorCode } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import { isOutage } from '../errors/outage.ts';
import type { Log } from '../observability/log.ts';
import type { EndedRun, Observer } from '../observability/observer.ts';
import { NO_MORE_TIME } from '../runs/life/active-runs.ts';
import type { RunOutcome, Runs, StoredEnd } from '../runs/life/runs.ts';
import { INTERRUPTED } from '../runs/queue/recovery.ts';
import type { BegunRun } from '../runs/record/begun-run.ts';
import type { EndEvent, EventLog, Unnumbered } from '../runs/record/events.ts';
import type { Trace } from '../runs/trace/trace.ts';
import type { HistoryMessage, TurnEnd } from '../sessions/history.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';

/** A run whose work is finished and whose outcome is not stored yet. */
export type EndingRun = {
  begun: BegunRun;
  /** The labels of the run in the metrics. */
  labels: Pick<EndedRun, 'kind' | 'channel'>;
  trace: Pick<Trace, 'finish'>;
  events: Pick<EventLog, 'stall'>;
  outcome: RunOutcome;
  task: Pick<AgentTask, 'message' | 'history' | 'isNotice' | 'session'>;
  /** Null for a draft. */
  deploymentId: string | null;
  /** The assistant's and tools' messages of the run. */
  newMessages: HistoryMessage[];
  /** When the work finished, by `performance.now()`. */
  since: number;
};

/**
 * Stores the outcome of a run and of its turn. Retries in an outage for as long as this attempt owns the run. If the
 * database rejects the outcome, it stores a failure without messages instead.
 *
 * @param signal the run's signal. Once it aborts with `NO_MORE_TIME`, retries stop after 3 seconds.
 * @returns the run's terminal event as its row holds it; `undefined` if the row may still be active.
 */
export type StoreEnd = (
  run: EndingRun,
  signal: AbortSignal,
) => Promise<Unnumbered<EndEvent> | undefined>;

const LAST_ATTEMPTS_MS = 3_000;

export function createStoreEnd({
  runs,
  observer,
  log,
}: {
  runs: Pick<Runs, 'end' | 'endWithoutTurn'>;
  observer: Observer;
  log: Log;
}): StoreEnd {
  const failureOf = ({ begun, trace, outcome }: EndingRun, err: unknown): RunOutcome => {
    log.error(
      { runId: begun.id, err },
      'Run outcome could not be stored. The run will be stored as failed.',
    );
    const error = toGatewayError(err);
    const spans = trace.finish({ ...outcome, errorType: error.code });
    return { ...outcome, status: 'FAILED', output: undefined, error, spans };
  };

  return async (run, signal) => {
    const { begun, labels, events, outcome, since } = run;
    const runId = begun.id;
    /** Every retry stores the same failure, because an earlier attempt may have committed. */
    let failure: RunOutcome | undefined;
    let stalling: NodeJS.Timeout | undefined;

    const attempt = async (): Promise<StoredEnd> => {
      if (!failure) {
        const stored = await runs.end(begun, outcome, turnEnd(run, outcome));
        if (stored !== 'held') return stored;
        failure = failureOf(run, new Error('The run no longer holds the turn of its session.'));
      }
      const stored = await runs.endWithoutTurn(begun, failure, turnEnd(run, failure));
      if (stored === 'held') throw new Error('The run is still active after its end was stored.');
      return stored;
    };

    const when = () =>
      signal.reason !== NO_MORE_TIME || performance.now() - since <= LAST_ATTEMPTS_MS;

    const onFailure = (err: unknown, attempts: number) => {
      if (!isOutage(err)) failure ??= failureOf(run, err);
      if (attempts > 1) return;
      log.error({ runId, err }, 'Run outcome could not be stored. It will be retried.');
      const lateMs = performance.now() - since;
      stalling = setTimeout(events.stall, REQUEST_LIMIT_MS - lateMs).unref();
    };

    try {
      const stored = await retry(attempt, { when, onFailure });
      const end = failure ?? outcome;
      // Another process has counted an end that it stored itself.
      if (isAsRequested(stored)) observer.runEnded({ ...labels, ...measured(end) });
      return asEvent(stored, run, end);
    } catch (err) {
      log.error({ runId, err }, 'Run outcome could not be stored. Recovery will finish the run.');
      return undefined;
    } finally {
      clearTimeout(stalling);
    }
  };
}

/**
 * A completed turn stores all its messages, and the messages that its request sent first. A cancelled turn stores its partial
 * response, a failed one nothing.
 */
function turnEnd(
  { task: { session, message, history = [], isNotice }, newMessages }: EndingRun,
  { status, response }: RunOutcome,
): TurnEnd | undefined {
  if (!session) return undefined;
  if (status === 'FAILED') return { session, messages: undefined };
  const own: HistoryMessage = { role: isNotice ? 'SYSTEM' : 'USER', text: message };
  const input = [...history, own];
  if (status === 'COMPLETED') return { session, messages: [...input, ...newMessages] };
  const partial: HistoryMessage = { role: 'ASSISTANT', text: response, toolCalls: [] };
  return { session, messages: response ? [...input, partial] : input };
}

function measured({ status, latencyMs, promptTokens, completionTokens }: RunOutcome) {
  return { status, usage: { seconds: latencyMs / 1_000, promptTokens, completionTokens } };
}

function asEvent(
  stored: StoredEnd,
  { begun: { id: runId }, deploymentId }: EndingRun,
  outcome: RunOutcome,
): Unnumbered<EndEvent> {
  const { status, error, latencyMs, promptTokens, completionTokens, toolsCalled, output } = outcome;
  const failure = ({ code, message }: { code: ErrorCode; message: string }) =>
    ({ type: 'ChatFailed', runId, latencyMs, code, message }) as const;
  if (stored === 'deleted')
    return failure({ code: 'internal_error', message: 'The run was deleted.' });
  // The failure that recovery stores.
  if (stored === 'lost') return failure({ code: 'interrupted', message: INTERRUPTED });
  if (stored === 'held') throw new Error('The run has no terminal event.');
  if (!isAsRequested(stored)) {
    const { seq: _, ...event } = stored;
    return event;
  }
  const { finishedAt: at } = stored;
  if (error) return { ...failure(error), at };
  const tokensUsed = promptTokens + completionTokens;
  if (status === 'CANCELLED') return { type: 'ChatCancelled', at, runId, latencyMs, tokensUsed };
  const { finishReason = null, cachedTokens = null, reasoningTokens = null } = outcome;
  const tokens = { promptTokens, completionTokens, cachedTokens, reasoningTokens };
  const end = { deploymentId, finishReason, ...tokens };
  const done = { type: 'ChatDone', at, runId, latencyMs, tokensUsed, toolsCalled, end } as const;
  return output ? { ...done, output } : done;
}

function isAsRequested(stored: StoredEnd): stored is { finishedAt: number } {
  return typeof stored === 'object' && 'finishedAt' in stored;
}
