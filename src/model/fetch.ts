import { Agent, type Dispatcher } from 'undici';
import { startDeadline } from '../async/deadline.ts';

/** How long an idle connection is kept. */
const KEEP_ALIVE_MS = 60_000;
/** The time limit for draining the rest of a response. */
const REST_LIMIT_MS = 1_000;

/** The part of `fetch` that a call of a model uses: a URL, a text body and a streamed response. */
export type ModelFetch = (
  url: string,
  request: { method: 'POST'; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<ModelResponse>;

export type ModelResponse = Pick<Response, 'ok' | 'status' | 'headers'> & {
  body: AsyncIterable<Uint8Array> | null;
};

/**
 * A `ModelFetch` over a connection pool. Its response has an async iterable instead of a web stream, which costs several
 * times as much, and it parses the headers only when they are read.
 */
export function createPooledFetch(): ModelFetch {
  // The caller sets time limits, so undici's are off.
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 });
  return async (input, request) => {
    const { origin, pathname, search } = new URL(input);
    const answer = await agent.request({ origin, path: pathname + search, ...request });
    return {
      ok: answer.statusCode >= 200 && answer.statusCode < 300,
      status: answer.statusCode,
      body: chunksOf(answer.body),
      get headers() {
        return headersOf(answer.headers);
      },
    };
  };
}

/** Wraps a `ModelFetch` to send exactly these headers, without the headers that the client adds. */
export function withHeaders(
  fetch: ModelFetch,
  headers: Readonly<Record<string, string>>,
): ModelFetch {
  return (url, request) => fetch(url, { ...request, headers });
}

function headersOf(headers: Dispatcher.ResponseData['headers']): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value = []]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    ),
  );
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
