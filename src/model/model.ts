import type { JsonObject } from '../text/json.ts';

/** One message of the conversation that a model continues. */
export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | {
      role: 'assistant';
      content: string;
      toolCalls: ToolCall[];
      /** The reasoning behind the message, for the server that sent it. */
      reasoning?: JsonObject | undefined;
    }
  | { role: 'tool'; content: string; toolCallId: string };

/** A tool call that the model requests. */
export type ToolCall = {
  id: string;
  name: string;
  /** The text of a JSON object, or a text that is none if the call is broken. Truncated if it exceeds 64 KiB. */
  arguments: string;
  /** Further members of the call, as the text of a JSON object. The server wants them back unchanged. */
  extra?: string | undefined;
};

/** A tool that a model may call. */
export type ModelTool = {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  parameters: JsonObject;
};

/** One call of a model. */
export type ModelRequest = {
  /** The server's name of the model, as returned by `nameFor`. */
  model: string;
  messages: ModelMessage[];
  /** Empty if the model may only answer with text. */
  tools: ModelTool[];
  /** `none`: the model may no longer call the tools. Several servers refuse a history of calls without the tools. */
  toolChoice?: 'none' | undefined;
  /** 0 to 2; the server's default if omitted. */
  temperature?: number;
  /** The most completion tokens; the server's default if omitted. */
  maxTokens?: number;
  /** How much the model reasons before it answers; the model's default if omitted. */
  reasoningEffort?: string;
  /** Further members of the request. They replace none of those above. */
  parameters?: Readonly<Record<string, unknown>>;
  /** The JSON Schema of the answer, if it must be a JSON object. The model may ignore it. */
  outputSchema?: JsonObject | undefined;
  /** The account whose calls teach which members of a request the server accepts; none for the operator's own calls. */
  accountId?: string | undefined;
  /** Milliseconds for the whole call. */
  timeout: number;
  /** Limits the total of all answers that share it; by default the request has its own. */
  budget?: AnswerBudget;
  /** Receives the status and the headers of each response, before its body. */
  onResponse?: ((response: Pick<Response, 'status' | 'headers'>) => void) | undefined;
};

/** Counts the data that a model server sends. Both functions throw TooLong once the limit of one run is exceeded. */
export type AnswerBudget = {
  /** Counts bytes as they arrive. */
  receive(bytes: number): void;
  /** Counts chunks, or parts of them, and the characters of text and tool calls. */
  take(chunks: number, characters: number): void;
};

/** Tokens as counted by the model server. */
export type Usage = {
  promptTokens: number;
  completionTokens: number;
  /** How many of the prompt's tokens came from a cache; `undefined` if the server does not count them. */
  cachedTokens?: number | undefined;
  /** How many of the completion's tokens are reasoning; `undefined` if the server does not count them. */
  reasoningTokens?: number | undefined;
};

/** Events of a model call, in order: any number of text deltas, then tool calls, then one `finish`. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'tool-call'; call: ToolCall }
  | {
      type: 'finish';
      /** OpenAI's finish reason, such as `stop` or `length`; `unknown` if the server sent none. Its length is not limited. */
      reason: string;
      /** The name of the model that answered, if the server sent one. */
      model: string | undefined;
      /** Undefined if the server sent none. */
      usage: Usage | undefined;
      /** The reasoning, to send back in the same run with the message, if the message calls tools. */
      reasoning?: JsonObject | undefined;
      /** Characters of reasoning. */
      reasoningLength?: number | undefined;
      /** The kinds of parts that were left out of the answer, such as images. */
      ignored?: string[] | undefined;
      /** Members that the server refuses, so that they were left out or sent in another form. */
      leftOut?: string[] | undefined;
      /** The number of requests to the server, if more than one was needed. */
      attempts?: number | undefined;
    };

/** Facts about a model server that need no request. */
export type ModelServer = {
  /** The host of its address, with the port if it is not the standard one; empty if the address is not valid. */
  host: string;
  /** Whether its requests carry a key. */
  hasKey: boolean;
};

/** A language model. */
export type Model = {
  /**
   * The value of `gen_ai.provider.name` in traces: the wire format, not the operator of the server. The offline model has
   * its own value, so that a dashboard does not count it as OpenAI's.
   */
  provider: 'openai' | 'parley.offline';
  /** The server behind the model; undefined for the offline model. */
  server: ModelServer | undefined;
  /** The name of the model that serves a request for `requested`, or for the default. */
  nameFor(requested?: string): string;
  /** Models of the same server for definitions that name none, tried in order after a failed call. */
  fallbacks?: readonly string[] | undefined;
  /**
   * Calls the model. A failure before the first event is retried once. A request with a member that the server refuses is
   * repeated without it, and so are later requests.
   *
   * @param emit receives each event as it arrives.
   * @param signal aborts the call. It then returns without a `finish` event.
   * @throws ModelError. It may follow a `finish` event, if the answer is complete but cannot be used. An answer with more than 128 tool calls, or one that exceeds the budget, is a `model_error`.
   */
  stream(
    request: ModelRequest,
    emit: (event: ModelEvent) => void,
    signal: AbortSignal,
  ): Promise<void>;
};
