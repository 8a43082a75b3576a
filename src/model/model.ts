/** One message of the conversation that a model continues. */
export type ModelMessage = { role: 'system' | 'user' | 'assistant'; content: string };

/** One call of a model. */
export type ModelRequest = {
  /** The model's name as its server knows it: what `nameFor` answered. */
  model: string;
  messages: ModelMessage[];
  /** 0 to 2; the server's default where it is left out. */
  temperature?: number;
  /** Completion tokens, at most; the server's default where it is left out. */
  maxTokens?: number;
  /** Milliseconds for the whole call. */
  timeout: number;
};

/** Tokens as the model's server counted them; 0 where it did not say. */
export type Usage = { promptTokens: number; completionTokens: number };

/** What a model says, in order: text in any number of pieces, then one `finish`. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | {
      type: 'finish';
      /** Why the model stopped, in OpenAI's words, such as `stop` or `length`. */
      reason: string;
      usage: Usage;
    };

/** A language model, wherever it runs. */
export type Model = {
  /** The name of the model that answers when this one is asked for, or none in particular. */
  nameFor(requested?: string): string;
  /**
   * Asks the model and streams what it says.
   *
   * @param signal ends the call and the stream, which then closes without `finish`.
   * @throws GatewayError `model_timeout` or `model_error`; a failure before the first piece of text has been
   *   retried once.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};
