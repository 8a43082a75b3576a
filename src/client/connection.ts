import { startDeadline } from './deadline.ts';
import { ConnectionError } from './errors.ts';
import { type EventSource, openEventStream } from './event-stream.ts';
import type { ClientOptions, RateLimits, RequestOptions } from './options.ts';
import { headersOf, misuse, rootOf } from './request.ts';
import { failureOf, jsonOf, limitsOf } from './response.ts';
import { waitToRetry } from './retry.ts';

/** A request, without the credentials. */
export type Request = {
  /** Defaults to `POST`. */
  method?: 'GET';
  /** From the root of the server. */
  path: string;
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

const JSON_BODY = { 'content-type': 'application/json' };

/** Opens connections with the key or token of a client. No property of the result holds it. */
export function createConnection({
  apiKey,
  baseUrl = 'http://127.0.0.1:4000',
  dangerouslyAllowBrowser,
  fetch: given,
  ...defaults
}: ClientOptions): Connection {
  const root = rootOf(baseUrl);
  // `Headers` would quote an invalid value in its error.
  if (!apiKey || !/^[!-~]+$/.test(apiKey)) throw misuse('apiKey is missing or invalid.');
  if (!dangerouslyAllowBrowser && 'document' in globalThis)
    throw misuse('A page must not hold an apiKey. Use a sessionToken.');
  let limits: RateLimits | undefined;

  async function send(request: Request, settings: Settings, signal: AbortSignal) {
    const { method = 'POST', path, body, headers = {} } = request;
    const fetcher = given ?? fetch;
    const credentials = { authorization: `Bearer ${apiKey}` };
    const all = headersOf(JSON_BODY, headers, settings.headers, credentials);
    const init = { method, headers: all, body: JSON.stringify(body), signal };
    const response = await fetcher(root + path, init).catch((error) => {
      signal.throwIfAborted();
      throw new ConnectionError(`Cannot reach ${root}.`, error);
    });
    limits = limitsOf(response) ?? limits;
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  return {
    limits: () => limits,

    settingsOf(options) {
      const { timeout = defaults.timeout ?? 600_000, maxRetries = defaults.maxRetries ?? 2 } =
        options ?? {};
      if (!(timeout > 0 && maxRetries >= 0)) throw misuse('timeout or maxRetries is out of range.');
      return {
        timeout,
        maxRetries,
        signals: [defaults.signal, options?.signal],
        headers: { ...defaults.headers, ...options?.headers },
      };
    },

    async call(request, settings, read, onAbandoned) {
      const { timeout, maxRetries, signals } = settings;
      const deadline = startDeadline(timeout, signals);
      const { signal } = deadline;
      let isSent = false;
      try {
        for (let failures = 0; ; failures += 1) {
          try {
            signal.throwIfAborted();
            isSent = true;
            const response = await send(request, settings, signal);
            return { data: read(await jsonOf(response), response), response };
          } catch (error) {
            await waitToRetry(error, failures, maxRetries, deadline);
          }
        }
      } catch (error) {
        if (isSent && signal.aborted) onAbandoned?.();
        throw error;
      } finally {
        deadline.stop();
      }
    },

    open: (request, settings, signal) =>
      openEventStream((sending) => send(request, settings, sending), signal),
  };
}
