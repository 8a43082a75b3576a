import OpenAI from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ModelFetch, ModelResponse } from './fetch.ts';

export type Post = (
  body: ChatCompletionCreateParamsStreaming,
  options: { signal: AbortSignal; timeout: number },
) => Promise<ModelResponse>;

/**
 * Posts to the chat completions of a server, with the URL, the headers and the errors of the `openai` client. The client
 * makes the URL and the headers once: its own path of a request costs more than the rest of the call.
 *
 * @returns a function that throws the client's errors, without the body of the response.
 */
export function createPost({
  apiKey,
  baseUrl,
  fetch,
}: {
  apiKey: string;
  baseUrl: string;
  fetch: ModelFetch;
}): Post {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl,
    // By default, the client reads these from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
  });
  const prepare = async () => {
    const request = { method: 'post', path: '/chat/completions', body: {} } as const;
    const { req, url } = await client.buildRequest(request);
    return { url, headers: Object.fromEntries(req.headers) };
  };
  let prepared: ReturnType<typeof prepare> | undefined;

  return async (body, { signal, timeout }) => {
    prepared ??= prepare();
    const { url, headers } = await prepared;
    if (signal.aborted) throw new OpenAI.APIUserAbortError();
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'x-stainless-timeout': `${Math.trunc(timeout / 1_000)}` },
      body: JSON.stringify(body),
      signal,
    }).catch((error: Error) => {
      throw connectionError(error, signal);
    });
    if (response.ok) return response;
    // Nothing reads the body of an error response, and it may be endless.
    await response.body?.[Symbol.asyncIterator]().return?.();
    throw OpenAI.APIError.generate(response.status, undefined, undefined, response.headers);
  };
}

function connectionError(cause: Error, signal: AbortSignal): Error {
  if (signal.aborted) return new OpenAI.APIUserAbortError();
  // Systems and libraries have different errors for a connection that timed out.
  if (/timed? ?out/i.test(`${cause} ${cause.cause}`)) return new OpenAI.APIConnectionTimeoutError();
  return new OpenAI.APIConnectionError({ cause });
}
