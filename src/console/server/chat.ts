import { createClient, NetworkError } from 'graphql-sse';
import {
  Chat,
  type ChatEventFragment,
  type ChatSubscriptionVariables,
  FollowRun,
} from '../../operations/console/operations.ts';
import type { Persisted } from '../../operations/console/persisted.ts';
import { connection, noteAway, noteHere } from './connection.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import { AWAY, isSessionEnd, type Problem, problemIn } from './problem.ts';
import { noteSessionEnd } from './session.ts';

export type ChatEvent = ChatEventFragment;

/** A chat that could not begin, or whose events cannot be read. */
export class ChatProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

const LAST: ChatEvent['__typename'][] = ['ChatDone', 'ChatFailed', 'ChatCancelled'];

const events = createClient({ url: '/graphql/stream', headers: CONSOLE_HEADERS, retryAttempts: 0 });

/**
 * Sends a message and reads the events of its run until the last one. A cut stream continues where it was cut, when the
 * server is back: the run does not end with its reader.
 *
 * @throws ChatProblem
 */
export async function* streamChat(
  { botId, input }: ChatSubscriptionVariables,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, void> {
  const variables = { botId, input: { ...input, onDisconnect: 'CONTINUE' as const } };
  let position: { runId: string; after: number } | undefined;
  while (!signal.aborted) {
    const source = position ? subscribe(FollowRun, position) : subscribe(Chat, variables);
    const stop = () => void source.return?.();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const event of readEvents(source)) {
        const runId = event.__typename === 'RunStarted' ? event.runId : position?.runId;
        if (runId) position = { runId, after: event.seq };
        yield event;
        if (LAST.includes(event.__typename)) return;
      }
    } catch (error) {
      if (error instanceof ChatProblem || !position) throw problemFrom(error);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
    noteAway();
    await untilHere(signal);
  }
}

type Result = { data?: { event: ChatEvent } | null | undefined; errors?: readonly GraphQLFault[] };
type GraphQLFault = { message: string; extensions?: Record<string, unknown> };

function subscribe<Variables extends Record<string, unknown>>(
  { documentId }: Persisted<{ event: ChatEvent }, Variables>,
  variables: Variables,
) {
  const request = { query: '', documentId, variables };
  return events.iterate<{ event: ChatEvent }>(request);
}

async function* readEvents(source: AsyncIterable<unknown>): AsyncGenerator<ChatEvent, void> {
  for await (const value of source) {
    const { data, errors: [fault] = [] } = value as Result;
    noteHere();
    if (fault) throw new ChatProblem(problemIn(fault.extensions ?? {}, fault.message));
    if (data) yield data.event;
  }
}

function problemFrom(error: unknown): ChatProblem {
  if (error instanceof ChatProblem) {
    if (isSessionEnd(error.problem)) noteSessionEnd();
    return error;
  }
  if (!(error instanceof NetworkError) || !error.response) noteAway();
  return new ChatProblem(AWAY);
}

function untilHere(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (connection.get().isAway && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', check);
      resolve();
    };
    const unsubscribe = connection.subscribe(check);
    signal.addEventListener('abort', check);
    check();
  });
}
