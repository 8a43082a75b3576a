import type { EventSource } from '../../client/event-stream.ts';
import { readResults } from '../../client/graphql-events.ts';
import { readStream } from '../../client/stream-reader.ts';
import { ChatProblem, chatProblem } from './chat-problem.ts';
import { noteHere } from './connection.ts';
import { type Access, type Reading, recover, requestEvents } from './event-request.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import type { Persisted } from './persisted.ts';
import { isSessionEnd, type Problem, problemIn } from './problem.ts';
import { noteSessionEnd } from './session.ts';

/** A result of a subscription, with the response that it arrived in. */
export type Received<Data> = { data: Data; response: Response };

/**
 * Begins a subscription. Its results are read no faster than they are handled.
 *
 * @throws ChatProblem if the server refuses, or a result is an error; another error if the connection is lost.
 */
export async function subscribe<Data, Variables>(
  { documentId }: Persisted<Data, Variables>,
  variables: Variables,
  reading: Reading,
): Promise<AsyncGenerator<Received<Data>, void> | undefined> {
  const headers = {
    ...((await reading.access?.headers()) ?? CONSOLE_HEADERS),
    accept: 'text/event-stream',
    'content-type': 'application/json',
  };
  // The inspector shows the body as it is sent, so the variables come before the hash of the document.
  const body = JSON.stringify({ variables, documentId });
  const source = await requestEvents(
    '/graphql/stream',
    { method: 'POST', headers, body },
    reading,
  ).catch((error) => {
    throw noted(error);
  });
  return source && receive(source);
}

async function* receive<Data>({
  response,
  events,
}: EventSource): AsyncGenerator<Received<Data>, void> {
  for await (const { data, errors: [fault] = [] } of readResults<Data>(events)) {
    noteHere();
    if (fault) {
      const requestId = response.headers.get('x-request-id') ?? undefined;
      const problem = problemIn({ ...fault.extensions }, fault.message);
      throw noted(new ChatProblem({ ...problem, requestId }));
    }
    if (data) yield { data, response };
  }
}

function noted(error: unknown): unknown {
  if (error instanceof ChatProblem && isSessionEnd(error.problem)) noteSessionEnd();
  return error;
}

/**
 * Reads a subscription until the signal is aborted. After a lost connection it begins again when the server is back, and
 * after an expired token with another one.
 *
 * @param access defaults to the cookie of the console.
 * @param onConnected called when the server follows, so that nothing after it is missed.
 * @returns the problem if the server refuses.
 */
export async function followAlways<Data, Variables>(
  subscription: Persisted<Data, Variables>,
  variables: Variables,
  { signal, access, onConnected }: { signal: AbortSignal; access?: Access; onConnected(): void },
  onData: (data: Data) => void,
): Promise<Problem | undefined> {
  /** Whether the server has not followed since another token was got. */
  let isRenewed = false;
  const source = {
    signal,
    async open() {
      const results = await subscribe(subscription, variables, { signal, access });
      isRenewed = false;
      onConnected();
      return results;
    },
    async recover(error: unknown) {
      const isRefused = error instanceof ChatProblem && isSessionEnd(error.problem);
      if (!access || isRenewed || !isRefused) return recover(error, signal);
      isRenewed = true;
      access.renew();
    },
  };
  try {
    for await (const { data } of readStream(source)) onData(data);
  } catch (error) {
    if (!signal.aborted) return chatProblem(error).problem;
  }
  return undefined;
}
