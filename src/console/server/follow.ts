import { createClient } from 'graphql-sse';
import type { Persisted } from '../../operations/console/persisted.ts';
import { noteHere } from './connection.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import { problemIn } from './problem.ts';
import { ChatProblem } from './stream-chat.ts';

/**
 * Reads a subscription until it ends or the signal is aborted.
 *
 * @param onConnected called when the server follows, so that nothing after it is missed.
 * @throws ChatProblem if an event is an error; the error of `graphql-sse` if the server refuses or the connection is lost.
 */
export async function* follow<
  Data extends Record<string, unknown>,
  Variables extends Record<string, unknown>,
>(
  { documentId }: Persisted<Data, Variables>,
  variables: Variables,
  { signal, onConnected }: { signal: AbortSignal; onConnected?: () => void },
): AsyncGenerator<Data, void> {
  const client = createClient({
    url: '/graphql/stream',
    headers: CONSOLE_HEADERS,
    retryAttempts: 0,
    on: { ...(onConnected && { connected: onConnected }) },
  });
  const request = { query: '', documentId, variables };
  const source = client.iterate<Data>(request);
  const stop = () => void source.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const { data, errors: [fault] = [] } of source) {
      noteHere();
      if (fault) throw new ChatProblem(problemIn({ ...fault.extensions }, fault.message));
      if (data) yield data;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
