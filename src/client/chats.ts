/** A JSON object with any members. */
export type JsonObject = Record<string, unknown>;

/** The environment of a bot. */
export type Environment = 'production' | 'staging';

/** A message for a bot. */
export type ChatInput = {
  /** Message of the user, at least 1 character. */
  message: string;
  /**
   * Session ID of the conversation, stable and unique for each of your users, 1 to 256 visible characters. Users with the
   * same session ID share history and memory. The server generates one by default.
   */
  sessionId?: string | undefined;
  /** JSON object that is passed to the model. Its keys take precedence over remembered facts. */
  context?: JsonObject | undefined;
  /** Environment of the bot. Defaults to `production`. */
  environment?: Environment | undefined;
  /** Whether a busy session queues the message or rejects it with `session_busy`. Defaults to `enqueue`. */
  onBusy?: 'enqueue' | 'reject' | undefined;
};

/** The reply of a bot. */
export type ChatReply = {
  /** Text of the reply. */
  response: string;
  /** Structured reply: the JSON object that `response` holds as text. Absent where none was requested. */
  output?: JsonObject;
  /** Session ID of the conversation: the one sent, or a generated one. */
  sessionId: string;
  /** ID of the run. */
  runId: string;
  /** Time from the request to the end of the run, in milliseconds. */
  latencyMs: number;
  /** Sum of prompt and completion tokens. */
  tokensUsed: number;
  /** Names of the tools called, as `<group>.<capability>`, in call order without repeats. */
  toolsCalled: string[];
};

/** A message in the history of a single prompt. */
export type HistoryMessage = {
  role: 'user' | 'assistant' | 'tool';
  /** Text of the message. Optional for the role `assistant`. */
  content?: string | undefined;
  /** Tool calls of a message of the role `assistant`. A message of the role `tool` must follow for each. */
  toolCalls?: { id: string; name: string; arguments: string }[] | undefined;
  /** The tool call that a message of the role `tool` answers. */
  toolCallId?: string | undefined;
};

/** A single prompt, without a conversation. */
export type ExecuteInput = {
  /** The prompt for the bot, at least 1 character. */
  prompt: string;
  /** Messages to send to the model before the prompt, oldest first: at most 500. */
  history?: HistoryMessage[] | undefined;
  /** JSON object that is passed to the model. */
  context?: JsonObject | undefined;
  /** Environment of the bot. Defaults to `production`. */
  environment?: Environment | undefined;
  /** Whether to queue the run and return immediately. Defaults to `false`. */
  background?: boolean | undefined;
  /** JSON Schema of an object that the reply must fit. It replaces the definition's `output`. */
  outputSchema?: JsonObject | undefined;
  /** JSON object to store with the run. It is not passed to the model. */
  metadata?: JsonObject | undefined;
};

/** The reply to a single prompt. */
export type ExecuteReply = Omit<ChatReply, 'sessionId'>;
