/** A time limit on work. Disposal stops its timer, so hold it with `using`. */
export type Deadline = Disposable & {
  /** Aborted when the time has passed, or when the other signal aborts, with that signal's reason. */
  signal: AbortSignal;
};

type Options = {
  /** A signal that ends the work earlier. */
  signal?: AbortSignal | undefined;
  /** Creates the abort reason when the time has passed. Default: a `TimeoutError`. */
  reason?: (() => unknown) | undefined;
};

/**
 * Starts a time limit. Unlike `AbortSignal.timeout` and `AbortSignal.any`, it removes its timer and its listeners when
 * the work ends first.
 */
export function startDeadline(
  limitMs: number,
  { signal, reason = timeout }: Options = {},
): Deadline {
  const deadline = new AbortController();
  const follow = () => deadline.abort(signal?.reason);
  signal?.addEventListener('abort', follow);
  if (signal?.aborted) follow();
  const timer = setTimeout(() => deadline.abort(reason()), limitMs);
  return {
    signal: deadline.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    },
  };
}

/** Waits for work that may not notice the signal. @throws the signal's reason as soon as it aborts. */
export async function untilAborted<Value>(
  work: PromiseLike<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Waits a limited time for work that cannot be aborted. @throws the reason, by default a `TimeoutError`. */
export async function withinTime<Value>(
  limitMs: number,
  work: PromiseLike<Value>,
  reason?: () => unknown,
): Promise<Value> {
  using deadline = startDeadline(limitMs, { reason });
  return await untilAborted(work, deadline.signal);
}

function timeout(): DOMException {
  return new DOMException('The time limit has passed.', 'TimeoutError');
}
