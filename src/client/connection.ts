import { startDeadline } from './deadline.ts';
import { ConnectionError, InvalidRequestError, ParleyError, TimeoutError } from './errors.ts';
import { readEvents, type ServerSentEvent } from './event-stream.ts';
import { failureOf, header } from './failure.ts';
import type { ClientOptions, RateLimits, RequestOptions } from './options.ts';
import { isRetryable, waitToRetry } from './retry.ts';

/** A request, without the credentials. */
export type Request = {
  /** Defaults to `POST`. */
  method?: 'GET';
  /** From the root of the server. */
  path: string;
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
};

/** The settings of a call, with all defaults. */
export type Settings = {
  timeout: number;
  maxRetries: number;
  signals: (AbortSignal | undefined)[];
  headers: Record<string, string>;
};

/** The data of a response, with the response for its status and headers. */
export type Answer<Data> = { data: Data; response: Response };

export type Connection = {
  /** Whether the connection has a session token in place of a key. */
  hasToken: boolean;
  limits(): RateLimits | undefined;
  /** @throws ParleyError if an option is out of range. */
  settingsOf(options: RequestOptions | undefined): Settings;
  /** Sends a request and reads its JSON, with retries. */
  call<Data>(
    request: Request,
    settings: Settings,
    read: (body: unknown, response: Response) => Data,
    /** Called if the call is aborted or times out after a request was sent. */
    onAbandoned?: () => unknown,
  ): Promise<Answer<Data>>;
  /** Sends a request once and reads its events. @returns undefined if the server has no more events. */
  open(request: Request, settings: Settings, signal: AbortSignal): Promise<EventSource | undefined>;
};

/** The events of a response. */
export type EventSource = {
  runId: string | undefined;
  requestId: string | undefined;
  events: AsyncGenerator<ServerSentEvent>;
};

const TIMEOUT_MS = 600_000;
const MAX_RETRIES = 2;

/** Opens connections with the credentials of a client. No property of the result holds them. */
export function createConnection(options: ClientOptions): Connection {
  const { sessionToken } = options;
  const root = rootOf(options.baseUrl ?? 'http://127.0.0.1:4000');
  const authorization = `Bearer ${credentialOf(options)}`;
  let limits: RateLimits | undefined;

  async function send(request: Request, settings: Settings, signal: AbortSignal) {
    const { method = 'POST', path, query, body } = request;
    const url = `${root}${path}${queryOf(query)}`;
    const headers = headersOf({
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...request.headers,
      ...settings.headers,
      authorization,
    });
    const fetcher = options.fetch ?? fetch;
    let response: Response;
    try {
      response = await fetcher(url, { method, headers, body: JSON.stringify(body), signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new ConnectionError(`The server at ${root} cannot be reached.`, error);
    }
    limits = limitsOf(response) ?? limits;
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  return {
    hasToken: sessionToken !== undefined,
    limits: () => limits,

    settingsOf(given = {}) {
      const {
        timeout = options.timeout ?? TIMEOUT_MS,
        maxRetries = options.maxRetries ?? MAX_RETRIES,
      } = given;
      if (!(timeout > 0)) throw misuse('timeout must be greater than 0.');
      if (!(maxRetries >= 0)) throw misuse('maxRetries must be 0 or greater.');
      return {
        timeout,
        maxRetries,
        signals: [options.signal, given.signal],
        headers: { ...options.headers, ...given.headers },
      };
    },

    async call(request, settings, read, onAbandoned) {
      const { timeout, maxRetries, signals } = settings;
      const deadline = startDeadline(timeout, (ms) => new TimeoutError(ms), signals);
      const { signal } = deadline;
      let isSent = false;
      try {
        for (let failures = 0; ; failures += 1) {
          try {
            signal.throwIfAborted();
            isSent = true;
            const response = await send(request, settings, signal);
            return { data: read(await jsonOf(response, signal), response), response };
          } catch (error) {
            signal.throwIfAborted();
            if (failures >= maxRetries || !isRetryable(error)) throw error;
            await waitToRetry(error, failures, deadline);
          }
        }
      } catch (error) {
        if (isSent && signal.aborted) onAbandoned?.();
        throw error;
      } finally {
        deadline.stop();
      }
    },

    async open(request, settings, signal) {
      const response = await send(request, settings, signal);
      if (response.status === 204) return undefined;
      return {
        runId: header(response, 'x-run-id'),
        requestId: header(response, 'x-request-id'),
        events: readEvents(response, signal),
      };
    },
  };
}

/** @throws ConnectionError if the body is incomplete, or is no JSON because a proxy answered. */
async function jsonOf(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    signal.throwIfAborted();
    throw new ConnectionError('The response is incomplete, or is not JSON.', error);
  }
}

function rootOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw misuse('baseUrl must be an http or https address without a user and password.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function credentialOf(options: ClientOptions): string {
  const { apiKey, sessionToken, dangerouslyAllowBrowser } = options;
  const credential = apiKey ?? sessionToken;
  if (!credential) throw misuse('Give the client an apiKey, such as the value of PARLEY_API_KEY.');
  if (apiKey !== undefined && sessionToken !== undefined) {
    throw misuse('Give the client an apiKey or a sessionToken, not both.');
  }
  // `Headers` quotes an invalid value in its error.
  if (!/^[!-~]+$/.test(credential)) {
    throw misuse('The apiKey or sessionToken has characters that are not visible ASCII.');
  }
  if (apiKey !== undefined && isBrowser() && !dangerouslyAllowBrowser) {
    throw misuse(
      'An API key in a browser is readable by everyone who opens the page. Use a sessionToken, or set dangerouslyAllowBrowser.',
    );
  }
  return credential;
}

function isBrowser(): boolean {
  return 'window' in globalThis && 'document' in globalThis;
}

function misuse(message: string): ParleyError {
  return new ParleyError({ message, code: 'invalid_option' });
}

function queryOf(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function headersOf(given: Record<string, string | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    try {
      // Headers hold only Latin-1, so each character is a byte of the value in UTF-8.
      headers.set(name, String.fromCharCode(...new TextEncoder().encode(value)));
    } catch {
      const message = `The header ${name} has characters that HTTP does not allow.`;
      throw new InvalidRequestError({ message, code: 'invalid_request' });
    }
  }
  return headers;
}

function limitsOf(response: Response): RateLimits | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    header(response, `x-ratelimit-${name}`),
  );
  if (!limit || !remaining || !reset) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) };
}
