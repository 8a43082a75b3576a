import type { Approval } from '../../language/definition.ts';
import type { ToolEffect, ToolRequest } from '../../runs/tool-calls/tool-call.ts';
import type { Span } from '../../runs/trace/trace.ts';
import type { JsonObject } from '../../text/json.ts';

/** A tool that a model may call. */
export type Tool = {
  /** `<group>.<capability>` */
  name: string;
  /** For the model. */
  description: string;
  /** For the visitors of a chat page. Undefined: they see no call. */
  label?: string | undefined;
  /** A JSON Schema of an object. */
  inputSchema: JsonObject;
  /** What a call may do outside the server. */
  effect: ToolEffect;
  /** The approval of a person that each call needs; null: none. */
  approval: Approval | null;
  /** The paths of the template values that a call uses, except `env` and `input`. */
  paths: readonly (readonly string[])[];
  /**
   * Checks the input and makes everything that is sent.
   *
   * @param input the parsed arguments from the model, not validated.
   * @throws ToolError for an input that the model may read about and correct.
   */
  prepare(input: unknown, context: ToolContext): PreparedCall;
};

/** A call that is ready to be sent. */
export type PreparedCall = {
  /** The HTTP request, with the values of variables. None for a call without one of its own. */
  request?: ToolRequest;
  /** The headers of the definition, with the values of variables. No person sees them. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Sends the call. Once the context's signal is aborted, throws the signal's reason.
   *
   * @param idempotencyKey the request's `Idempotency-Key`; none for a call that only reads.
   * @throws ToolError for a failure that the model may read and react to.
   */
  send(idempotencyKey?: string): Promise<ToolAnswer>;
};

export type ToolAnswer = {
  /** The result for the model, at most 64 KiB. */
  text: string;
  /** The status of the HTTP response, if there was one. */
  httpStatus?: number;
};

/** A tool of the server's own, which needs no approval and uses no template values. */
export const OWN_TOOL = { effect: 'reads', approval: null, paths: [] } as const;

/** The run that a tool call belongs to. */
export type ToolContext = {
  /** Aborted when the run ends. */
  signal: AbortSignal;
  /** The template values of the run: `context`, `memory`, `session` and `now`. */
  values: Readonly<Record<string, unknown>>;
  /** Receives further attributes of the call. Undefined outside a run. */
  span?: Pick<Span, 'set'>;
};

/** A tool failure with a message for the model: without secrets, internal addresses and stack traces. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** A short error type for traces. */
  readonly type: string;
  /** The status of the HTTP response, if there was one. */
  readonly httpStatus: number | undefined;
  /** Whether the request may have been performed, although no response to it arrived. */
  readonly isUnanswered: boolean;

  constructor(
    message: string,
    { type = 'tool_error', httpStatus, isUnanswered = false, ...options }: ToolErrorOptions = {},
  ) {
    super(message, options);
    this.type = type;
    this.httpStatus = httpStatus;
    this.isUnanswered = isUnanswered;
  }
}

type ToolErrorOptions = ErrorOptions &
  Partial<Pick<ToolError, 'type' | 'httpStatus' | 'isUnanswered'>>;
