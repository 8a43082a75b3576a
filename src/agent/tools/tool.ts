import type { JsonObject } from '../../json.ts';
import type { Span } from '../../runs/trace.ts';

/** Something that a model may call. */
export type Tool = {
  /** `<group>.<capability>` */
  name: string;
  /** For the model. */
  description: string;
  /** What it takes: a JSON Schema of an object. */
  inputSchema: JsonObject;
  /**
   * Calls it with what the model sent.
   *
   * @returns what the model gets to read, 64 KiB at most.
   * @throws ToolError for a failure that the model may read and react to.
   */
  call(input: unknown, context: ToolContext): Promise<string>;
};

/** What a call knows of the run that it is part of. */
export type ToolContext = {
  /** Aborted when the run ends. */
  signal: AbortSignal;
  /** What templates place, but for `input` and `env`: `context`, `memory`, `session`, `now`. */
  values: Readonly<Record<string, unknown>>;
  /** Where the call may say more of itself; none outside of runs. */
  span?: Pick<Span, 'set'>;
};

/** A failure of a tool, in words for the model: without secrets, addresses of our own and stacks. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** The same in one word, for traces. */
  readonly type: string;

  constructor(message: string, { type = 'tool_error', ...options }: ToolErrorOptions = {}) {
    super(message, options);
    this.type = type;
  }
}

type ToolErrorOptions = ErrorOptions & { type?: string };
