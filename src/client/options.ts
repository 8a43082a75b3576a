/** Settings of one call. The constructor takes the same as defaults, without `idempotencyKey`. */
export type RequestOptions = {
  /**
   * The longest time that a call may take, with all its retries, in milliseconds. For a stream: the longest time between
   * two events. Defaults to 600,000 (10 minutes). `Infinity` sets no limit.
   */
  timeout?: number | undefined;
  /** Aborts the call. If the call started a run, the run is cancelled. */
  signal?: AbortSignal | undefined;
  /** How often a request is retried, and how often a stream reconnects without progress. Defaults to 2. */
  maxRetries?: number | undefined;
  /** More headers for the requests of this call. */
  headers?: Record<string, string> | undefined;
  /**
   * The key that makes the request safe to repeat for 24 hours, 1 to 255 visible ASCII characters. By default, the client
   * makes one for each call and uses it for all retries of the call.
   */
  idempotencyKey?: string | undefined;
};

/** Settings of a client. */
export type ClientOptions = Omit<RequestOptions, 'idempotencyKey'> & {
  /** The API key, `parley_sk_…`. Keys belong to servers, never to browsers. */
  apiKey?: string | undefined;
  /** A session token from `createSessionToken`, in place of a key. It can only chat, and may be used in browsers. */
  sessionToken?: string | undefined;
  /** The address of the server, with or without `/v1`. Defaults to `http://127.0.0.1:4000`. */
  baseUrl?: string | undefined;
  /** Allows an API key in a browser. Everyone who opens the page can then read the key. */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** The function that sends requests. Defaults to the global `fetch`. */
  fetch?: typeof fetch | undefined;
};

/** The rate limit, as the last response reported it. */
export type RateLimits = {
  /** Maximum requests per minute. */
  limit: number;
  /** Requests left in the current window. */
  remaining: number;
  /** Time at which the current window ends, in Unix seconds. */
  reset: number;
};
