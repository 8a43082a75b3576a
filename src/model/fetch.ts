import { Agent, type Dispatcher } from 'undici';
import { startDeadline } from '../deadline.ts';

/** How long an idle connection is kept. */
const KEEP_ALIVE_MS = 60_000;
/** The time limit for draining the rest of a response. */
const REST_LIMIT_MS = 1_000;

/**
 * The part of `fetch` that the `openai` client uses, over a connection pool: a URL, a text body and a streamed response.
 * The response body is an async iterable instead of a web stream, which costs several times as much.
 */
export function createPooledFetch(): typeof fetch {
  // The client sets time limits, so undici's are off.
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 });
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    if (input instanceof Request || typeof body !== 'string') {
      throw new TypeError('Only a URL with a text body can be fetched.');
    }
    const url = new URL(input);
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body,
      signal: signal ?? null,
    });
    const response = new Response(null, {
      status: answer.statusCode,
      headers: Object.entries(answer.headers).flatMap(([name, value = []]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
    });
    return Object.defineProperty(response, 'body', { value: chunksOf(answer.body) });
  };
}

/** Wraps `fetch` to drop the bodies of error responses: nothing reads them, and they may be endless. */
export function withoutRefusals(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (...request) => {
    const response = await fetch(...request);
    if (response.ok) return response;
    await response.body?.[Symbol.asyncIterator]().return?.();
    return new Response(null, response);
  };
}

/** Wraps `fetch` to send exactly these headers, without those that the client adds. */
export function withHeaders(
  fetch: typeof globalThis.fetch,
  headers: Readonly<Record<string, string>>,
): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, headers });
}

/** Streams a body. If the reader stops early, the rest is drained so that the connection can be reused. */
function chunksOf(body: Dispatcher.ResponseData['body']): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body.iterator({ destroyOnReturn: false });
      return {
        next: () => chunks.next(),
        async return() {
          void drain(body);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

async function drain(body: Dispatcher.ResponseData['body']): Promise<void> {
  using deadline = startDeadline(REST_LIMIT_MS);
  await body
    .dump({ limit: Number.MAX_SAFE_INTEGER, signal: deadline.signal })
    .catch(() => body.destroy());
}
