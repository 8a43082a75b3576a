import { createClient, NetworkError } from 'graphql-sse';
import {
  Chat,
  type ChatEventFragment,
  type ChatSubscriptionVariables,
  FollowRun,
} from '../../generated/operations/console.ts';
import { noteAway, noteHere, untilHere } from './connection.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import type { Persisted } from './persisted.ts';
import { AWAY, isSessionEnd, type Problem, problemFrom, problemIn } from './problem.ts';
import { type Recording, requestIdIn } from './recording.ts';
import { withResponseEnd } from './response-end.ts';
import { noteSessionEnd } from './session.ts';

export type ChatEvent = ChatEventFragment;

/** A chat that could not begin, or whose events cannot be read. */
export class ChatProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

const LAST: ChatEvent['__typename'][] = ['ChatDone', 'ChatFailed', 'ChatCancelled'];

/** Where the reading of a run stands. `seq` is the number of the last event. */
export type Position = { runId: string; seq: number };

/** The options of a stream besides its parameters. */
export type Reading = {
  signal: AbortSignal;
  recording: Recording;
  /** Default: the cookie of the console. */
  access?: Access | undefined;
};

/** Access by a token. */
export type Access = {
  /** Authenticate a request. @throws ChatProblem */
  headers(): Promise<Record<string, string>>;
  /** Gets another token for the next request. */
  renew(): void;
};

/**
 * Sends a message and reads the events of its run until the last one. After a lost connection, resumes after the last
 * event received once the server responds: the run continues without its reader. After an expired token, resumes with
 * another one.
 *
 * @throws ChatProblem
 */
export function streamChat(
  { input, ...chat }: ChatSubscriptionVariables,
  reading: Reading,
): AsyncGenerator<ChatEvent, void> {
  const variables = { ...chat, input: { ...input, onDisconnect: 'CONTINUE' as const } };
  return readOn(reading, (position) =>
    position
      ? subscribe(reading, FollowRun, { runId: position.runId, after: position.seq })
      : subscribe(reading, Chat, variables),
  );
}

/** Reads the events of a run from its first one on. @throws ChatProblem */
export function followRun(runId: string, reading: Reading): AsyncGenerator<ChatEvent, void> {
  return readOn(reading, (position = { runId, seq: 0 }) =>
    subscribe(reading, FollowRun, { runId, after: position.seq }),
  );
}

type Source = AsyncIterableIterator<unknown>;

async function* readOn(
  { signal, recording, access }: Reading,
  open: (position?: Position) => Source,
): AsyncGenerator<ChatEvent, void> {
  let position: Position | undefined;
  let isOver = false;
  /** Whether there was no event since another token was got. */
  let isRenewed = false;
  while (!signal.aborted && !isOver) {
    const source = open(position);
    const stop = () => void source.return?.();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const event of readEvents(source, recording)) {
        const runId = event.__typename === 'RunStarted' ? event.runId : position?.runId;
        if (runId) position = { runId, seq: event.seq };
        isOver ||= LAST.includes(event.__typename);
        isRenewed = false;
        yield event;
      }
    } catch (error) {
      if (error instanceof ChatProblem || hasResponse(error) || !position) {
        const failure = await chatProblem(error);
        if (!access || isRenewed || !isSessionEnd(failure.problem)) throw failure;
        isRenewed = true;
        access.renew();
        continue;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
    if (isOver || signal.aborted) return;
    noteAway();
    await untilHere(signal);
  }
}

type Result = { data?: { event: ChatEvent } | null | undefined; errors?: readonly GraphQLFault[] };
type GraphQLFault = { message: string; extensions?: Record<string, unknown> };

function subscribe<Variables extends Record<string, unknown>>(
  { recording, access }: Reading,
  { documentId }: Persisted<{ event: ChatEvent }, Variables>,
  variables: Variables,
): Source {
  const client = createClient({
    url: '/graphql/stream',
    headers: access?.headers ?? CONSOLE_HEADERS,
    retryAttempts: 0,
    fetchFn: withResponseEnd(recording.fetch),
  });
  const request = { query: '', documentId, variables };
  return client.iterate<{ event: ChatEvent }>(request);
}

async function* readEvents(
  source: AsyncIterable<unknown>,
  recording: Recording,
): AsyncGenerator<ChatEvent, void> {
  for await (const value of source) {
    const { data, errors: [fault] = [] } = value as Result;
    noteHere();
    if (fault) {
      const requestId = requestIdIn(recording);
      throw new ChatProblem({ ...problemIn(fault.extensions ?? {}, fault.message), requestId });
    }
    if (data) yield data.event;
  }
}

/** Converts an error of a stream of events. */
export async function chatProblem(error: unknown): Promise<ChatProblem> {
  if (error instanceof ChatProblem) return noted(error);
  if (hasResponse(error)) return noted(new ChatProblem(await problemFrom(error.response)));
  noteAway();
  return new ChatProblem(AWAY);
}

/** Whether the server refused a stream, as opposed to a lost connection. */
export function hasResponse(error: unknown): error is { response: Response } {
  return error instanceof NetworkError && error.response instanceof Response;
}

function noted(error: ChatProblem): ChatProblem {
  if (isSessionEnd(error.problem)) noteSessionEnd();
  return error;
}
