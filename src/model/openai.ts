import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { z } from 'zod';
import { startDeadline } from '../deadline.ts';
import { GatewayError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { readChunks } from './chunks.ts';
import { createPooledFetch, type ModelFetch } from './fetch.ts';
import type { Model, ModelEvent, ModelMessage, ModelRequest, Usage } from './model.ts';
import {
  callPiecesOf,
  collectCalls,
  createAnswerBudget,
  joinSurrogates,
  TooLong,
  textOf,
  textOrNone,
} from './pieces.ts';
import { createPost } from './post.ts';

/** OpenAI's own server. Only this server requires the newer name of the token limit, `max_completion_tokens`. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Sent to a server that needs no key, because the client requires one. */
export const NO_KEY = 'none';

const RETRY_DELAY_MS = 500;
const MAX_RETRY_DELAY_MS = 5_000;

/** An OpenAI-compatible server. */
export type OpenAIOptions = {
  /** Optional: some self-hosted servers need none. */
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** Used if a definition names no model. */
  defaultModel: string;
  /** Sends the requests; by default over a connection pool of this model. */
  fetch?: ModelFetch;
  /** Milliseconds before a retry, if the server requests no other delay. */
  retryDelayMs?: number;
};

/** A model behind OpenAI's chat completions API. It always streams and requests the usage in the stream. */
export function createOpenAIModel({
  apiKey = NO_KEY,
  baseUrl = OPENAI_BASE_URL,
  defaultModel,
  fetch = createPooledFetch(),
  retryDelayMs = RETRY_DELAY_MS,
}: OpenAIOptions): Model {
  const post = createPost({ apiKey, baseUrl, fetch });
  const limitName = baseUrl === OPENAI_BASE_URL ? 'max_completion_tokens' : 'max_tokens';

  /** One attempt. Emits text as it arrives, then tool calls, then `finish`. */
  const attempt = async (request: ModelRequest, emit: Emit, signal: AbortSignal) => {
    const { model, messages, tools, temperature, maxTokens, timeout, outputSchema } = request;
    const { budget = createAnswerBudget() } = request;
    const text = joinSurrogates();
    let reason: string | undefined;
    let usage: Usage | undefined;
    let answering: string | undefined;
    const calls = collectCalls(budget);
    const response = await post(
      {
        model,
        messages: messages.map(toWire),
        ...(tools.length > 0 && {
          tools: tools.map((tool) => ({ type: 'function' as const, function: tool })),
        }),
        ...(outputSchema && { response_format: formatOf(outputSchema) }),
        temperature,
        [limitName]: maxTokens,
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal, timeout },
    );
    await readChunks(response, budget, (chunk) => {
      const chunkText = textOf(chunk);
      budget.take(0, chunkText.length);
      const delta = text.add(chunkText);
      if (delta) emit({ type: 'text-delta', text: delta });
      calls.add(callPiecesOf(chunk));
      reason = textOrNone(chunk.choices?.[0]?.finish_reason) ?? reason;
      usage = readUsage(chunk) ?? usage;
      answering = textOrNone(chunk.model) || answering;
    });
    if (reason === undefined) throw new BrokenOff();
    const rest = text.end();
    if (rest) emit({ type: 'text-delta', text: rest });
    for (const call of calls.all()) emit({ type: 'tool-call', call });
    emit({ type: 'finish', reason, model: answering, usage });
  };

  return {
    provider: 'openai',
    nameFor: (requested) => requested ?? defaultModel,

    async stream(request, emit, signal) {
      using deadline = startDeadline(request.timeout, { signal });
      try {
        let attempted = request;
        let attempts = 0;
        for (let attemptsLeft = 1; ; attemptsLeft -= 1) {
          attempts += 1;
          let hasEmitted = false;
          const onEvent = (event: ModelEvent) => {
            hasEmitted = true;
            emit(event.type === 'finish' && attempts > 1 ? { ...event, attempts } : event);
          };
          try {
            return await attempt(attempted, onEvent, deadline.signal);
          } catch (error) {
            if (attempted.outputSchema && isRefusal(error)) {
              attempted = { ...request, outputSchema: undefined };
              attemptsLeft += 1;
              continue;
            }
            if (hasEmitted || attemptsLeft === 0 || !isRetryable(error)) throw error;
            await delay(requestedDelay(error) ?? retryDelayMs, undefined, {
              signal: deadline.signal,
            });
          }
        }
      } catch (error) {
        if (!signal.aborted) throw describe(error, deadline.signal.aborted);
      }
    },
  };
}

type Emit = (event: ModelEvent) => void;

/** A stream that ended without a finish reason. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

/** OpenAI's structured outputs, without the strict mode, which does not know all of JSON Schema. */
function formatOf(schema: JsonObject) {
  return { type: 'json_schema' as const, json_schema: { name: 'output', schema } };
}

/** Whether a server may have refused `response_format`. The call is then repeated without it. */
function isRefusal(error: unknown): boolean {
  return error instanceof OpenAI.APIError && (error.status === 400 || error.status === 422);
}

/** Whether a retry of the same call may succeed. */
function isRetryable(error: unknown): boolean {
  if (error instanceof OpenAI.APIUserAbortError || error instanceof TooLong) return false;
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    return (
      error.status === 408 || error.status === 409 || error.status === 429 || error.status >= 500
    );
  }
  return true;
}

/** The milliseconds of the server's `Retry-After`, at most 5 seconds. */
function requestedDelay(error: unknown): number | undefined {
  const headers = error instanceof OpenAI.APIError ? error.headers : undefined;
  const requested = Number(
    headers?.get('retry-after-ms') ?? Number(headers?.get('retry-after')) * 1_000,
  );
  return Number.isFinite(requested) && requested > 0
    ? Math.min(requested, MAX_RETRY_DELAY_MS)
    : undefined;
}

/** Reads the usage that the server reports. An invalid count is 0. */
function readUsage({ usage }: ChatCompletionChunk): Usage | undefined {
  if (!usage) return undefined;
  return {
    promptTokens: tokenCount.parse(usage.prompt_tokens),
    completionTokens: tokenCount.parse(usage.completion_tokens),
  };
}

const tokenCount = z.int32().nonnegative().catch(0);

function toWire(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', content: message.content, tool_call_id: message.toolCallId };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function' as const,
            function: { name, arguments: text },
          })),
        }),
      };
    default:
      return { role: message.role, content: message.content };
  }
}

function timedOut(): GatewayError {
  return new GatewayError('model_timeout', 'The model did not answer in time.');
}

/** Maps an error to a GatewayError without the server's message, which may quote the request. */
function describe(error: unknown, late: boolean): GatewayError {
  if (late || error instanceof OpenAI.APIConnectionTimeoutError) return timedOut();
  if (error instanceof OpenAI.APIConnectionError) {
    return new GatewayError('model_error', "The model's server cannot be reached.", {
      cause: error.cause,
    });
  }
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    return new GatewayError('model_error', `The model's server answered ${error.status}.`);
  }
  if (error instanceof BrokenOff) {
    return new GatewayError('model_error', "The model's answer is incomplete.");
  }
  if (error instanceof TooLong) return new GatewayError('model_error', error.message);
  return new GatewayError('model_error', "The model's answer is incomplete or invalid.");
}
