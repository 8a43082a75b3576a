import { createClient } from 'graphql-sse';
import { noteAway, noteHere, untilHere } from './connection.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import type { Persisted } from './persisted.ts';
import { type Problem, problemIn } from './problem.ts';
import { withResponseEnd } from './response-end.ts';
import { ChatProblem, chatProblem, hasResponse } from './stream-chat.ts';

/** @param onConnected called when the server follows, so that nothing after it is missed. */
type Following = { signal: AbortSignal; onConnected?: () => void };

/**
 * Reads a subscription until it ends or the signal is aborted, no faster than its events are handled.
 *
 * @param onConnected called when the server follows, so that nothing after it is missed.
 * @throws ChatProblem if an event is an error or the server refuses; the error of `graphql-sse` if the connection is lost.
 */
export async function* follow<
  Data extends Record<string, unknown>,
  Variables extends Record<string, unknown>,
>(
  { documentId }: Persisted<Data, Variables>,
  variables: Variables,
  { signal, onConnected }: Following,
): AsyncGenerator<Data, void> {
  let reader: PromiseWithResolvers<void> | undefined;
  const client = createClient({
    url: '/graphql/stream',
    headers: CONSOLE_HEADERS,
    retryAttempts: 0,
    fetchFn: withResponseEnd(fetch, async () => reader?.promise),
    on: { ...(onConnected && { connected: onConnected }) },
  });
  const request = { query: '', documentId, variables };
  const source = client.iterate<Data>(request);
  const stop = () => void source.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const { data, errors: [fault] = [] } of source) {
      // The client still has events that it read before.
      if (signal.aborted) return;
      noteHere();
      if (fault) throw new ChatProblem(problemIn({ ...fault.extensions }, fault.message));
      if (!data) continue;
      // The events behind this one stay in the network until it is handled.
      reader = Promise.withResolvers();
      yield data;
      reader.resolve();
    }
  } catch (error) {
    // The end of the source aborts the response, so its reason is read first.
    throw hasResponse(error) ? await chatProblem(error) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    reader?.resolve();
  }
}

/**
 * Reads a subscription until the signal is aborted. After a lost connection it begins again when the server is back.
 *
 * @returns the problem if the server refuses.
 */
export async function followAlways<
  Data extends Record<string, unknown>,
  Variables extends Record<string, unknown>,
>(
  subscription: Persisted<Data, Variables>,
  variables: Variables,
  following: Following,
  onData: (data: Data) => void,
): Promise<Problem | undefined> {
  const { signal } = following;
  while (!signal.aborted) {
    try {
      for await (const data of follow(subscription, variables, following)) onData(data);
    } catch (error) {
      const { problem } = await chatProblem(error);
      if (error instanceof ChatProblem) return problem;
    }
    if (signal.aborted) return undefined;
    noteAway();
    await untilHere(signal);
  }
  return undefined;
}
