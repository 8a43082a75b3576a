import type { Span } from '../../runs/trace/trace.ts';
import type { JsonObject } from '../../text/json.ts';

/** A tool that a model may call. */
export type Tool = {
  /** `<group>.<capability>` */
  name: string;
  /** For the model. */
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: JsonObject;
  /**
   * @param input the parsed arguments from the model, not validated.
   * @returns the result for the model, at most 64 KiB.
   * @throws ToolError for a failure that the model may read and react to.
   */
  call(input: unknown, context: ToolContext): Promise<string>;
};

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

  constructor(message: string, { type = 'tool_error', ...options }: ToolErrorOptions = {}) {
    super(message, options);
    this.type = type;
  }
}

type ToolErrorOptions = ErrorOptions & { type?: string };
