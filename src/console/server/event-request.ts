import { type EventSource, openEventStream } from '../../client/event-stream.ts';
import { ChatProblem } from './chat-problem.ts';
import { noteAway, noteHere, untilHere } from './connection.ts';
import { problemFrom } from './problem.ts';

/** The options of a stream besides its parameters. */
export type Reading = {
  signal: AbortSignal;
  /** Sends the requests. Default: the browser's `fetch`. */
  fetch?: typeof fetch;
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
 * Sends one request for events.
 *
 * @returns `undefined` if the server has no more events.
 * @throws ChatProblem if the server refuses; another error if the connection is lost.
 */
export function requestEvents(
  path: string,
  init: RequestInit,
  { signal, fetch: request = fetch }: Reading,
): Promise<EventSource | undefined> {
  return openEventStream(async (sending) => {
    const response = await request(path, { ...init, signal: sending });
    noteHere();
    if (!response.ok) throw new ChatProblem(await problemFrom(response));
    return response;
  }, signal);
}

/** Waits until the server is back, or the signal is aborted. @throws ChatProblem if the server refused. */
export async function recover(error: unknown, signal: AbortSignal): Promise<void> {
  if (error instanceof ChatProblem) throw error;
  noteAway();
  await untilHere(signal);
  signal.throwIfAborted();
}
