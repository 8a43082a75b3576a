import OpenAI from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { GatewayError } from '../errors.ts';
import { toStorable } from '../text.ts';
import type { Model, ModelRequest, Usage } from './model.ts';

/** OpenAI's own server, which alone wants the limit of tokens under its newer name. */
const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** A server that speaks OpenAI's chat completions. */
export type OpenAIOptions = {
  /** Some servers on the operator's own machines want none. */
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** Answers where a definition names no model. */
  defaultModel: string;
  /** How requests leave; the platform's `fetch` by default. */
  fetch?: typeof fetch;
};

/** A model behind OpenAI's chat completions API, always streamed, with the usage in the stream. */
export function createOpenAIModel({
  apiKey = 'none',
  baseUrl = OPENAI_BASE_URL,
  defaultModel,
  fetch,
}: OpenAIOptions): Model {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl,
    organization: null,
    project: null,
    maxRetries: 1,
    logLevel: 'off',
    fetch,
  });
  const limitName = baseUrl === OPENAI_BASE_URL ? 'max_completion_tokens' : 'max_tokens';

  return {
    nameFor: (requested) => requested ?? defaultModel,

    async *stream({ model, messages, temperature, maxTokens, timeout }: ModelRequest, signal) {
      const call = new AbortController();
      const abort = () => call.abort();
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      const timer = setTimeout(abort, timeout);
      const text = joinSurrogates();
      let over = false;
      let reason: string | undefined;
      let usage: Usage = { promptTokens: 0, completionTokens: 0 };
      try {
        const chunks = await client.chat.completions.create(
          {
            model,
            messages,
            temperature,
            [limitName]: maxTokens,
            stream: true,
            stream_options: { include_usage: true },
          },
          { signal: call.signal, timeout },
        );
        for await (const chunk of chunks) {
          const delta = text(chunk.choices?.[0]?.delta?.content ?? '');
          if (delta) yield { type: 'text-delta', text: delta };
          reason = chunk.choices?.[0]?.finish_reason ?? reason;
          usage = readUsage(chunk) ?? usage;
        }
        over = true;
        if (signal.aborted) return;
        if (reason === undefined) throw brokenOff(call.signal);
        yield { type: 'finish', reason, usage };
      } catch (error) {
        if (!signal.aborted) throw describe(error, call.signal.aborted);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        if (!over) abort();
      }
    },
  };
}

function readUsage({ usage }: ChatCompletionChunk): Usage | undefined {
  return usage
    ? { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens }
    : undefined;
}

/** Makes each piece of text whole: the first half of a pair waits for its second. */
function joinSurrogates(): (piece: string) => string {
  let held = '';
  return (piece) => {
    const text = held + piece;
    held = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
    return toStorable(text.slice(0, text.length - held.length));
  };
}

function brokenOff({ aborted }: AbortSignal): GatewayError {
  return aborted ? timedOut() : new GatewayError('model_error', "The model's answer broke off.");
}

function timedOut(): GatewayError {
  return new GatewayError('model_timeout', 'The model did not answer in time.');
}

/** Says what went wrong without the server's own words, which may hold what was sent to it. */
function describe(error: unknown, late: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  if (late || error instanceof OpenAI.APIConnectionTimeoutError) return timedOut();
  if (error instanceof OpenAI.APIConnectionError) {
    return new GatewayError('model_error', "The model's server cannot be reached.", {
      cause: error.cause,
    });
  }
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    return new GatewayError('model_error', `The model's server answered ${error.status}.`);
  }
  return new GatewayError('model_error', "The model's answer broke off or could not be read.");
}
