import { Agent, type Dispatcher } from 'undici';

/** How long a connection that nobody uses is kept. */
const KEEP_ALIVE_MS = 60_000;
/** How long the end of an answer may take that nobody reads any more. */
const REST_LIMIT_MS = 1_000;

/**
 * The platform's `fetch` as far as the `openai` client uses it, over connections that are kept: an address, a text
 * as body, and an answer whose body is read as it comes, without the web streams that cost several times as much.
 */
export function createPooledFetch(): typeof fetch {
  // The client limits the time.
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 });
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    if (input instanceof Request || typeof body !== 'string') {
      throw new TypeError('Only an address with a text as body can be fetched.');
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

/** The same without the bodies of refusals: nobody is told what they say, and they may have no end. */
export function withoutRefusals(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (...request) => {
    const response = await fetch(...request);
    if (response.ok) return response;
    await response.body?.[Symbol.asyncIterator]().return?.();
    return new Response(null, response);
  };
}

/** The same with these headers and no others, whatever the client adds from its environment or its platform. */
export function withHeaders(
  fetch: typeof globalThis.fetch,
  headers: Readonly<Record<string, string>>,
): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, headers });
}

/** A body as it comes. Whoever has read enough of it leaves its end to us, so that the connection is kept. */
function chunksOf(body: Dispatcher.ResponseData['body']): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body.iterator({ destroyOnReturn: false });
      return {
        next: () => chunks.next(),
        async return() {
          const timer = setTimeout(() => body.destroy(), REST_LIMIT_MS);
          body
            .dump({ limit: Number.MAX_SAFE_INTEGER })
            .catch(() => {})
            .finally(() => clearTimeout(timer));
          return { done: true, value: undefined };
        },
      };
    },
  };
}
