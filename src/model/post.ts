import OpenAI from 'openai';
import { startDeadline, untilAborted } from '../async/deadline.ts';
import { VERSION } from '../text/version.ts';
import type { RequestBody } from './body.ts';
import { RefusedRequest } from './failure.ts';
import type { ModelFetch, ModelResponse } from './fetch.ts';
import type { ModelRequest } from './model.ts';
import { type Problem, readProblem } from './problem.ts';
import { parseOrNone } from './wire.ts';

/** How a server knows its caller, besides the key. */
export type CallerIdentity = {
  /** Sent as `OpenAI-Organization`. */
  organization?: string | undefined;
  /** Sent as `OpenAI-Project`. */
  project?: string | undefined;
  /** The header with the key alone, such as Azure's `api-key`; by default `Authorization` with `Bearer` and the key. */
  authHeader?: string | undefined;
};

export type Post = (
  body: RequestBody,
  options: Pick<ModelRequest, 'timeout' | 'onResponse'> & { signal: AbortSignal },
) => Promise<ModelResponse>;

/** How much of an error's body is read, and for how long: it may be endless. */
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_LIMIT_MS = 1_000;

/**
 * Posts to the chat completions of a server, with the URL and the headers of the `openai` client. The client makes them
 * once: its own path of a request costs more than the rest of the call.
 *
 * @returns a function that throws RefusedRequest, or the client's errors of connections.
 */
export function createPost({
  apiKey,
  baseUrl,
  fetch,
  ...identity
}: CallerIdentity & {
  apiKey: string;
  baseUrl: string;
  fetch: ModelFetch;
}): Post {
  const client = createClient({ apiKey, baseUrl, ...identity });
  const prepare = async () => {
    const request = { method: 'post', path: '/chat/completions', body: {} } as const;
    const { req, url } = await client.buildRequest(request);
    return { url, headers: Object.fromEntries(req.headers) };
  };
  let prepared: ReturnType<typeof prepare> | undefined;

  return async (body, { signal, timeout, onResponse }) => {
    prepared ??= prepare();
    const { url, headers } = await prepared;
    if (signal.aborted) throw new OpenAI.APIUserAbortError();
    const exchange = new AbortController();
    signal.addEventListener('abort', () => exchange.abort(signal.reason));
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'x-stainless-timeout': `${Math.trunc(timeout / 1_000)}` },
      body: JSON.stringify(body),
      signal: exchange.signal,
    }).catch((error: Error) => {
      throw connectionError(error, signal);
    });
    onResponse?.(response);
    if (response.ok) return response;
    const problem = await readRefusal(response, exchange);
    throw new RefusedRequest(response.status, response.headers, problem);
  };
}

/** The `openai` client for the URL and the headers of requests. It sends none. */
export function createClient({
  apiKey,
  baseUrl,
  organization,
  project,
  authHeader,
}: CallerIdentity & { apiKey: string; baseUrl: string }): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    defaultHeaders: {
      'User-Agent': `parley/${VERSION}`,
      ...(isPlainHeader(authHeader) && { Authorization: null, [authHeader]: apiKey }),
    },
    // By default, the client reads these from the environment.
    organization: organization ?? null,
    project: project ?? null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
  });
}

/** Whether a header holds the key alone. */
function isPlainHeader(name: string | undefined): name is string {
  return name !== undefined && name.toLowerCase() !== 'authorization';
}

/** Reads the start of an error's body, and disconnects if there is more. */
async function readRefusal({ body }: ModelResponse, exchange: AbortController): Promise<Problem> {
  using deadline = startDeadline(ERROR_LIMIT_MS, { signal: exchange.signal });
  const text = body ? await startOf(body, deadline.signal) : { read: '', isWhole: true };
  if (!text.isWhole) exchange.abort();
  return readProblem(parseOrNone(text.read) ?? plainText(text.read));
}

async function startOf(body: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const decoder = new TextDecoder();
  const chunks = body[Symbol.asyncIterator]();
  let read = '';
  try {
    while (read.length < MAX_ERROR_BYTES) {
      const { done, value } = await untilAborted(chunks.next(), signal);
      if (done) return { read, isWhole: true };
      read += decoder.decode(value, { stream: true }).slice(0, MAX_ERROR_BYTES);
    }
  } catch {
    // What has arrived is enough.
  }
  return { read, isWhole: false };
}

/** The text of an error that is no JSON; none for a page of HTML. */
function plainText(text: string): string {
  return /^\s*</.test(text) ? '' : text;
}

function connectionError(cause: Error, signal: AbortSignal): Error {
  if (signal.aborted) return new OpenAI.APIUserAbortError();
  // Systems and libraries have different errors for a connection that timed out.
  if (/timed? ?out/i.test(`${cause} ${cause.cause}`)) return new OpenAI.APIConnectionTimeoutError();
  return new OpenAI.APIConnectionError({ cause });
}
