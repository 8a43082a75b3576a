import { GatewayError } from '../errors/errors.ts';
import { OUTAGE_SECONDS } from '../errors/mask.ts';
import { isOutage } from '../errors/outage.ts';
import type { ReplyEnd } from '../runs/record/events.ts';
import type { JsonObject } from '../text/json.ts';
import type { StartedRun } from './started-run.ts';

/** The complete reply of a run. */
export type Reply = {
  response: string;
  /** `null` for a run without a session. */
  sessionId: string | null;
  runId: string;
  /** Milliseconds from the request to the end of the reply. Includes the wait for the turn. */
  latencyMs: number;
  tokensUsed: number;
  /** In call order, without repeats. */
  toolsCalled: string[];
  /** The structured reply, if one was requested. */
  output?: JsonObject | undefined;
  /** When the last attempt began, in milliseconds since 1970, by the database's clock. Null if that is not known. */
  startedAt: number | null;
  end: ReplyEnd;
};

/**
 * Starts a run and reads its reply. An interrupted run releases its idempotency key, so if the key returned such a run,
 * the request starts another one: 3 starts at most.
 *
 * @returns the run that answers the request, and its reply. If the run failed, was cancelled, or its outcome is unknown,
 *   `end` is the error, with the run's id.
 */
export async function readReply(
  start: () => Promise<StartedRun>,
  signal: AbortSignal,
): Promise<{ run: StartedRun; end: Reply | GatewayError }> {
  for (let starts = 1; ; starts += 1) {
    const run = await start();
    const end = await readEnd(run, signal);
    const isInterrupted = end instanceof GatewayError && end.code === 'interrupted';
    if (isInterrupted && run.isReplayed && starts < MAX_STARTS) continue;
    return { run, end };
  }
}

const MAX_STARTS = 3;

/** @returns the reply, or the error that explains its absence. */
async function readEnd(
  { id: runId, read }: StartedRun,
  signal: AbortSignal,
): Promise<Reply | GatewayError> {
  let response = '';
  let sessionId: string | null = null;
  let startedAt: number | null = null;
  try {
    for await (const event of read(signal, { failsFast: true })) {
      switch (event.type) {
        case 'RunStarted':
          ({ sessionId, at: startedAt } = event);
          response = '';
          break;
        case 'TextDelta':
          response += event.delta;
          break;
        case 'ChatDone': {
          const { latencyMs, tokensUsed, toolsCalled, output, end } = event;
          const facts = { sessionId, runId, latencyMs, tokensUsed, toolsCalled, startedAt, end };
          return { response, output, ...facts };
        }
        case 'ChatFailed':
          return new GatewayError(event.code, event.message, { runId });
        case 'ChatCancelled':
          return new GatewayError('internal_error', 'The run was cancelled.', { runId });
      }
    }
  } catch (cause) {
    if (!isOutage(cause)) throw cause;
    return endUnknown(runId, cause);
  }
  return endUnknown(runId);
}

function endUnknown(runId: string, cause?: unknown): GatewayError {
  const message =
    'The database did not answer in time, so the outcome of the run is not known yet. Read the run again in a few seconds.';
  return new GatewayError('internal_error', message, { runId, cause, retryAfter: OUTAGE_SECONDS });
}
