import type { JsonObject } from '../json.ts';

/** One message of the conversation that a model continues. */
export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string };

/** A model's wish to call a tool. */
export type ToolCall = {
  id: string;
  name: string;
  /** JSON, as the model wrote it: it may be broken. Of more than 64 KiB only the beginning. */
  arguments: string;
};

/** A tool that a model may wish to call. */
export type ModelTool = {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  parameters: JsonObject;
};

/** One call of a model. */
export type ModelRequest = {
  /** The model's name as its server knows it: what `nameFor` answered. */
  model: string;
  messages: ModelMessage[];
  /** None: the model can only speak. */
  tools: ModelTool[];
  /** 0 to 2; the server's default where it is left out. */
  temperature?: number;
  /** Completion tokens, at most; the server's default where it is left out. */
  maxTokens?: number;
  /** Milliseconds for the whole call. */
  timeout: number;
  /** Limits all answers that share it together; one of its own by default. */
  budget?: AnswerBudget;
};

/** Counts what a model's server sends. Both throw once that exceeds what the answers of one run may hold. */
export type AnswerBudget = {
  /** Counts bytes as they arrive. */
  receive(bytes: number): void;
  /** Counts chunks, or parts of them, and the characters of text and tool calls. */
  take(chunks: number, characters: number): void;
};

/** Tokens as the model's server counted them. */
export type Usage = { promptTokens: number; completionTokens: number };

/** What a model says, in order: text in any number of pieces, then its calls of tools, then one `finish`. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'tool-call'; call: ToolCall }
  | {
      type: 'finish';
      /** Why the model stopped, in OpenAI's words, such as `stop` or `length`; of any length. */
      reason: string;
      /** The model that answered, in its server's words; none where it did not say. */
      model: string | undefined;
      /** None where the server did not say. */
      usage: Usage | undefined;
    };

/** A language model, wherever it runs. */
export type Model = {
  /** The name of the model that answers when this one is asked for, or none in particular. */
  nameFor(requested?: string): string;
  /**
   * Asks the model.
   *
   * @param hear is told what it says, as it says it.
   * @param signal ends the call, which then ends without `finish`.
   * @throws GatewayError `model_timeout`, or `model_error`, also for an answer with more than 128 tool calls and for
   *   one that exceeds the request's budget; a failure before the first piece of text has been
   *   retried once.
   */
  stream(
    request: ModelRequest,
    hear: (event: ModelEvent) => void,
    signal: AbortSignal,
  ): Promise<void>;
};
