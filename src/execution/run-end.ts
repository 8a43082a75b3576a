import { type ErrorCode, toGatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { isOutage } from '../outage.ts';
import { NO_MORE_TIME } from '../runs/active-runs.ts';
import type { EndEvent, EventLog, Unnumbered } from '../runs/events.ts';
import { INTERRUPTED } from '../runs/recovery.ts';
import type { BegunRun, RunOutcome, Runs, StoredEnd } from '../runs/runs.ts';
import type { Trace } from '../runs/trace.ts';
import type { HistoryMessage, TurnEnd } from '../sessions/history.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';

/** A run whose work is over. */
export type EndingRun = {
  begun: BegunRun;
  trace: Pick<Trace, 'finish'>;
  events: Pick<EventLog, 'stall'>;
  outcome: RunOutcome;
  /** What was said in it. */
  said: HistoryMessage[];
  /** How the session's turn ends that the run is, if it is one. */
  turnOf(outcome: RunOutcome, said: HistoryMessage[]): TurnEnd | undefined;
  /** When the end could first have been stored, by `performance.now()`. */
  since: number;
};

/**
 * Stores the end of a run and of its turn: in an outage again and again, for as long as this attempt holds the run. An
 * end that the database refuses is stored as a failure, without its messages.
 *
 * @param signal the run's own: a process that has no more time tries for 3 seconds.
 * @returns the event that ends the run, by the run's row; none where the row is not known to have ended.
 */
export type StoreEnd = (
  run: EndingRun,
  signal: AbortSignal,
) => Promise<Unnumbered<EndEvent> | undefined>;

const LAST_TRIES_MS = 3_000;

export function createStoreEnd({
  runs,
  log,
}: {
  runs: Pick<Runs, 'end' | 'abandon'>;
  log: Log;
}): StoreEnd {
  return async ({ begun, trace, events, outcome, said, turnOf, since }, signal) => {
    const runId = begun.id;
    let failed: RunOutcome | undefined;
    let stalling: NodeJS.Timeout | undefined;

    /** The same failure each time: which answer was lost is not known. */
    const fail = (err: unknown) => {
      log.error(
        { runId, err },
        'The end of a run could not be stored. The run is stored as failed.',
      );
      const error = toGatewayError(err);
      const spans = trace.finish({ ...outcome, errorType: error.code });
      failed = { ...outcome, status: 'FAILED', error, spans };
      return failed;
    };

    const tryOnce = async (): Promise<StoredEnd> => {
      if (!failed) {
        const stored = await runs.end(begun, outcome, turnOf(outcome, said));
        if (stored !== 'held') return stored;
      }
      const failure = failed ?? fail(new Error('The turn of the run is no longer its own.'));
      const stored = await runs.abandon(begun, failure, turnOf(failure, []));
      if (stored === 'held') throw new Error('The run is held and has not ended.');
      return stored;
    };

    const isWorthwhile = (err: unknown) => {
      const lateMs = performance.now() - since;
      if (signal.reason === NO_MORE_TIME && lateMs > LAST_TRIES_MS) return false;
      if (!failed && !isOutage(err)) fail(err);
      if (!stalling) {
        log.error({ runId, err }, 'The end of a run is not stored yet.');
        stalling = setTimeout(events.stall, REQUEST_LIMIT_MS - lateMs).unref();
      }
      return true;
    };

    try {
      const stored = await retry(tryOnce, { when: isWorthwhile });
      return asEvent(stored, begun, failed ?? outcome);
    } catch (err) {
      log.error({ runId, err }, 'The end of a run is left to recovery.');
      return undefined;
    } finally {
      clearTimeout(stalling);
    }
  };
}

function asEvent(
  stored: StoredEnd,
  { id: runId }: BegunRun,
  { status, error, latencyMs, promptTokens, completionTokens, toolsCalled }: RunOutcome,
): Unnumbered<EndEvent> {
  const failure = ({ code, message }: { code: ErrorCode; message: string }) =>
    ({ type: 'ChatFailed', runId, latencyMs, code, message }) as const;
  if (stored === 'gone')
    return failure({ code: 'internal_error', message: 'The run was deleted.' });
  // As recovery stores it.
  if (stored === 'lost') return failure({ code: 'interrupted', message: INTERRUPTED });
  if (stored === 'held') throw new Error('The run has not ended.');
  if (stored !== 'asAsked') {
    const { seq: _, ...event } = stored;
    return event;
  }
  if (error) return failure(error);
  const tokensUsed = promptTokens + completionTokens;
  if (status === 'CANCELLED') return { type: 'ChatCancelled', runId, latencyMs, tokensUsed };
  return { type: 'ChatDone', runId, latencyMs, tokensUsed, toolsCalled };
}
