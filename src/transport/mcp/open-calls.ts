/** Names a call: the key, the session of the client, and the id of its request. */
export type CallName = { keyId: string; sessionId: unknown; requestId: unknown };

/**
 * The open calls of clients of a version with sessions. Such a client cancels a call by another request, which names the id of
 * the first one. A client of the version 2026-07-28 closes the response instead.
 */
export type OpenCalls = {
  /** Registers a call. @returns the signal of its cancellation, and a function that removes it. */
  begin(name: CallName): { signal: AbortSignal; end(): void };
  /** Cancels a call of this process. Nothing happens if it is unknown. */
  cancel(name: CallName): void;
};

export function createOpenCalls(): OpenCalls {
  const calls = new Map<string, AbortController>();
  const textOf = ({ keyId, sessionId, requestId }: CallName) =>
    JSON.stringify([keyId, sessionId, requestId]);

  return {
    begin(name) {
      const text = textOf(name);
      const call = new AbortController();
      calls.set(text, call);
      const end = () => {
        if (calls.get(text) === call) calls.delete(text);
      };
      return { signal: call.signal, end };
    },
    cancel: (name) => calls.get(textOf(name))?.abort(),
  };
}
