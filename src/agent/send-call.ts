import type { Log } from '../observability/log.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { ToolCallEnd } from '../runs/tool-calls/ledger.ts';
import type { ToolRequest } from '../runs/tool-calls/tool-call.ts';
import { type PreparedCall, type Tool, ToolError } from './tools/tool.ts';
import { shorten } from './untrusted-text.ts';

/** How a call ended. */
export type SentCall = ToolCallEnd & {
  /** The text for the model, without values of variables. */
  result: string;
  /** A short error type for traces. */
  errorType?: string;
  /** Whether the run was aborted during the call. */
  isStopped?: boolean;
};

/** Sends prepared calls. */
export type SendCall = {
  /**
   * Sends a call. An effect that no response confirms has the status `UNKNOWN`.
   *
   * @param idempotencyKey null for a call that only reads.
   */
  send(
    tool: Pick<Tool, 'name' | 'effect'>,
    prepared: PreparedCall,
    idempotencyKey: string | null,
    signal: AbortSignal,
  ): Promise<SentCall>;
  /** Describes a failure to the model. Logs one that is no `ToolError`. */
  failureOf(error: unknown, name: string): SentCall;
};

/** Characters of the body that a record keeps, with the note at the end of a longer one. */
const MAX_BODY = 48 * 1024;
export const UNKNOWN_OUTCOME = 'The outcome of this call is unknown. Do not repeat it.';
const STOPPED = 'Error: The run was aborted.';

export function createSendCall({ redactor, log }: { redactor: Redactor; log: Log }): SendCall {
  const failureOf: SendCall['failureOf'] = (error, name) => {
    if (error instanceof ToolError) {
      const { message, type, httpStatus } = error;
      const result = `Error: ${redactor.redact(message)}`;
      return { status: 'FAILED', result, errorType: type, ...(httpStatus && { httpStatus }) };
    }
    log.error({ tool: name, err: error }, 'Unexpected tool failure.');
    return { status: 'FAILED', result: 'Error: The tool failed.', errorType: 'internal_error' };
  };

  return {
    failureOf,

    async send({ name, effect }, prepared, idempotencyKey, signal) {
      const isEffect = effect !== 'reads';
      try {
        const { text, httpStatus } = await prepared.send(idempotencyKey ?? undefined);
        return { status: 'COMPLETED', result: text, ...(httpStatus && { httpStatus }) };
      } catch (error) {
        if (signal.aborted)
          return { status: isEffect ? 'UNKNOWN' : 'FAILED', result: STOPPED, isStopped: true };
        const failure = failureOf(error, name);
        const isKnown = error instanceof ToolError && !error.isUnanswered;
        if (!isEffect || isKnown) return failure;
        return { ...failure, status: 'UNKNOWN', result: `${failure.result} ${UNKNOWN_OUTCOME}` };
      }
    },
  };
}

/** The request of a call as it is recorded; null for a call without one. */
export function redactedRequest(
  { request }: Pick<PreparedCall, 'request'>,
  redactor: Redactor,
): ToolRequest | null {
  if (!request) return null;
  const { method, url, body } = request;
  const shown = body === undefined ? {} : { body: recordedBody(body, redactor) };
  return { method, url: redactor.redact(url), ...shown };
}

/** The beginning of a long body, with a note: a person who approves the request must see that there is more. */
function recordedBody(body: string, redactor: Redactor): string {
  if (body.length <= MAX_BODY) return shorten(body, MAX_BODY, redactor);
  const note = `… [the beginning of a body of ${body.length} characters]`;
  return shorten(body, MAX_BODY - note.length, redactor) + note;
}
