import type { Environment, JsonObject } from './chats.ts';
import type { ErrorDetail } from './errors.ts';

/** A run of a bot: one reply, with its trace. */
export type Run = {
  /** ID of the run. */
  runId: string;
  /** ID of the bot. */
  botId: string;
  /** ID of the deployment that the run uses. */
  deploymentId: string | null;
  /** Environment in which the run was requested. */
  environment: Environment;
  /**
   * Kind of the run: `chat` is a turn of a conversation, `execute` a single prompt, `draft` a chat with a definition that is
   * not deployed. Lists hold no drafts.
   */
  kind: 'chat' | 'execute' | 'draft';
  /** Current status of the run. */
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** Channel through which the run was requested. */
  channel: 'api' | 'web' | 'telegram';
  /**
   * Interface through which the client requested the run. Null for runs of the channel `api` from before the entrance was
   * stored.
   */
  entrance: 'rest' | 'graphql' | 'openai' | 'mcp' | 'web' | 'telegram' | null;
  /** Session ID of the conversation. Null for a run outside any conversation. */
  sessionId: string | null;
  /** Message or prompt sent to the bot. */
  input: string;
  /** Text of the reply. For a run that did not complete, the text generated so far. */
  response: string | null;
  /** Structured reply. Absent where none was requested. */
  output?: JsonObject;
  /** The `metadata` of the request that started the run. Null if it had none. */
  metadata: JsonObject | null;
  /** Why the run failed. Null unless the status is `failed`. */
  error: { code: string; message: string } | null;
  /** Name of the model. */
  model: string | null;
  /** Time of the request that started the run. */
  createdAt: string;
  /** Time at which a worker started the run. Null until then. */
  startedAt: string | null;
  /** Time at which the run finished. Null until then. */
  finishedAt: string | null;
  /** Time from the request to the end of the run, in milliseconds. Null until the run finishes. */
  latencyMs: number | null;
  /** Sum of prompt and completion tokens. */
  tokensUsed: number;
  /** Number of tokens in the prompts sent to the model. */
  promptTokens: number;
  /** Number of tokens that the model generated. */
  completionTokens: number;
  /** Whether the numbers of tokens are estimates, because the model's server reported none. */
  tokensEstimated: boolean;
  /** Number of tokens in the prompts that came from a cache of the model's server. Null if it reported none. */
  cachedTokens: number | null;
  /** Number of generated tokens that are reasoning. Null if the model's server reported none. */
  reasoningTokens: number | null;
  /** Why the model ended its last answer, such as `stop` or `length`. Null if it ended none. */
  finishReason: string | null;
  /** Names of the tools called, as `<group>.<capability>`, in call order without repeats. */
  toolsCalled: string[];
  /** What began the run. `approval`: the outcome of a tool call that a person had to approve. */
  trigger: 'request' | 'approval';
  /** ID of the run whose tool call was approved or denied. Null for `request`. */
  causedBy: string | null;
  /** Tool calls in order. While the run is active, only calls that may change something. */
  toolCalls: ToolCall[];
  /** Trace of the run. */
  trace: Trace;
};

/** A tool call of a run. Its texts hold no values of variables. */
export type ToolCall = {
  /** ID of the record. */
  id: string;
  /** The model's ID of the call. The events of the call carry the same value. */
  callId: string;
  /** Name of the tool, as `<group>.<capability>`. */
  name: string;
  /** Arguments from the model. Null if they are not stored. */
  arguments: JsonObject | null;
  /** The HTTP request of a capability. Null for other tools, for a call that was not sent, and if it is not stored. */
  request: { method: string; url: string; body: string | null } | null;
  /** State of the call. `unknown`: the request was sent, and its outcome is not known; it is not sent again. */
  status:
    | 'running'
    | 'completed'
    | 'failed'
    | 'unknown'
    | 'waiting'
    | 'denied'
    | 'expired'
    | 'refused';
  /** The result or the error, as the model got it: at most 64 KiB. Null while the call is in progress. */
  result: string | null;
  /** Status of the HTTP response. Null if there was none. */
  httpStatus: number | null;
  /** The `Idempotency-Key` of the request. Null for a call that only reads. */
  idempotencyKey: string | null;
  /** Time of the call. */
  startedAt: string;
  /** Time at which the call ended. Null before that, and if it is not known. */
  finishedAt: string | null;
};

/** The trace of a run. */
export type Trace = {
  /** Trace ID, 32 hexadecimal digits. */
  traceId: string;
  /** Spans ordered by start time. Empty until the run finishes. */
  spans: Span[];
};

/** One operation of a run. */
export type Span = {
  /** Span ID, 16 hexadecimal digits. */
  spanId: string;
  /** ID of the parent span. Null for a root span without a parent. */
  parentId: string | null;
  /** Name of the operation, by the conventions of OpenTelemetry. */
  name: string;
  /** Time at which the operation started. */
  startedAt: string;
  /** Duration in milliseconds, with fractions. */
  durationMs: number;
  /** Status of the span: `unset`, `ok` or `error`. Successful spans stay `unset`. */
  status: string;
  /** Attributes by OpenTelemetry's GenAI conventions. They hold names and counts, never message text. */
  attributes: JsonObject;
};

/**
 * The run after a cancellation. Without the scope `runs`, `deploymentId`, `input`, `response`, `metadata`, `error`,
 * `trigger`, `causedBy`, `toolCalls` and `trace` are null.
 */
export type CancelledRun = Omit<Run, 'input' | 'trigger' | 'toolCalls' | 'trace'> & {
  /** What began the run. */
  trigger: 'request' | 'approval' | null;
  /** Message or prompt sent to the bot. */
  input: string | null;
  /** Tool calls in order. */
  toolCalls: ToolCall[] | null;
  /** Trace of the run. */
  trace: Trace | null;
};

/** Which runs a list has. All conditions must hold. */
export type RunFilter = {
  /** Only runs of this user, identified by the session ID. */
  user?: string | undefined;
  /** Only runs with this status. */
  status?: Run['status'] | undefined;
  /** Only runs from this channel. */
  channel?: Run['channel'] | undefined;
  /** Only runs that clients requested through this interface. */
  entrance?: Exclude<Run['entrance'], null> | undefined;
  /** Only runs of this kind. */
  kind?: 'chat' | 'execute' | undefined;
  /** Only runs in this environment. */
  environment?: Environment | undefined;
  /** Only runs created on this UTC day, as `YYYY-MM-DD`. */
  date?: string | undefined;
  /** Only runs created at or after this time, in ISO 8601 with a time zone. */
  from?: string | undefined;
  /** Only runs created before this time, in ISO 8601 with a time zone. */
  to?: string | undefined;
  /** Maximum number of runs in a page, 1 to 100. Defaults to 20. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. Defaults to the first page. */
  cursor?: string | undefined;
};

/** An event of a run, with its number. */
export type RunEvent = RunStarted | TextDelta | ToolStarted | ToolFinished | RunDone;

/** The number of an event in its run, starting at 1. */
type Numbered = { seq: number };

/** The run started. */
export type RunStarted = Numbered & {
  type: 'run_started';
  runId: string;
  /** Session ID of the conversation. Null for a run outside any conversation. */
  sessionId: string | null;
};

/** A fragment of the reply. */
export type TextDelta = Numbered & { type: 'text'; delta: string };

/** A tool call started. */
export type ToolStarted = Numbered & {
  type: 'tool_started';
  /** Name of the tool, as `<group>.<capability>`. */
  name: string;
  /** Identifies the tool call. Both events of a call carry the same value. */
  callId: string;
  /** Arguments of the call. Only for keys with the scope `runs`. */
  arguments?: JsonObject;
};

/** A tool call finished or failed. */
export type ToolFinished = Numbered & {
  type: 'tool_finished';
  /** Name of the tool, as `<group>.<capability>`. */
  name: string;
  /** Identifies the tool call. Both events of a call carry the same value. */
  callId: string;
  /** Whether the call failed. */
  failed: boolean;
  /** Duration of the call in milliseconds. */
  durationMs: number;
  /** What the model got. Only for keys with the scope `runs`. */
  result?: string;
};

/** Last event of a run. */
export type RunDone = Numbered & {
  type: 'done';
  runId: string;
  /** Time from the request to the end of the run, in milliseconds. */
  latencyMs: number;
  /** Present only if the reply is incomplete. */
  status?: 'failed' | 'cancelled';
  /** Why the run failed. */
  error?: RunFailure;
};

/** Why a run failed, in the form of every error of the server. */
export type RunFailure = {
  /** Machine-readable error code. */
  code: string;
  /** Human-readable explanation of the error. */
  message: string;
  /** Seconds to wait before a retry. Only with `rate_limit_exceeded`. */
  retryAfter?: number;
  /** Every problem in the request, each with its dotted path. */
  details?: ErrorDetail[];
  /** ID of the request that read the event. */
  requestId: string;
};
