import type { ChatReply } from '../../client/chats.ts';
import type { EventSource } from '../../client/event-stream.ts';
import { decode, runPath } from '../../client/rest-source.ts';
import { fromWire } from '../../client/wire.ts';
import type { Call } from './call.ts';
import type { ChatEvent } from './chat-event.ts';
import { ChatProblem, chatProblem } from './chat-problem.ts';
import { noteHere } from './connection.ts';
import { type Reading, requestEvents } from './event-request.ts';
import { type Problem, problemFrom } from './problem.ts';
import { asHeaderValue, restRequest, withKey } from './rest-request.ts';
import { type Position, readRun } from './run-stream.ts';
import { eventsOfWhole } from './whole-chat.ts';

const NO_KEY: Problem = {
  code: 'NO_KEY',
  message: 'REST needs an API key. Type one, or create one for an hour.',
  details: [],
};

/**
 * Sends the documented REST request of a call without the session's cookie. A stream that is cut is read to its end by the
 * events of its run.
 *
 * @param secret the API key.
 * @throws ChatProblem
 */
export async function* sendByRest(
  call: Call,
  secret: string | undefined,
  reading: Reading,
): AsyncGenerator<ChatEvent, void> {
  if (!secret) throw new ChatProblem(NO_KEY);
  const { path, headers, body } = restRequest(call);
  const encoded = headers.map(([name, value]): [string, string] => [name, asHeaderValue(value)]);
  const init = { method: 'POST', ...withKey(secret, encoded), body };
  if (!call.isStreamed) yield* askWhole(path, init, reading);
  else
    yield* readRun(reading, async (position) => {
      const source = await (position
        ? requestEvents(...eventsOf(call.botId, position, secret), reading)
        : requestEvents(path, init, reading));
      return source && eventsIn(source, position);
    });
}

function eventsOf(
  botId: string,
  { runId, seq }: Position,
  secret: string,
): [path: string, init: RequestInit] {
  return [`${runPath(botId, runId)}/events`, withKey(secret, [['Last-Event-ID', String(seq)]])];
}

/** The events of a response. A header of the first response, which has no event for it, names the run. */
async function* eventsIn(source: EventSource, position?: Position): AsyncGenerator<ChatEvent> {
  const runId = source.response.headers.get('x-run-id');
  if (runId && !position) yield { type: 'run_started', runId, sessionId: null };
  yield* decode(source);
}

async function* askWhole(
  path: string,
  init: RequestInit,
  { signal, fetch: request = fetch }: Reading,
): AsyncGenerator<ChatEvent, void> {
  try {
    const response = await request(path, { ...init, signal });
    noteHere();
    if (!response.ok) throw new ChatProblem(await problemFrom(response));
    yield* eventsOfWhole(fromWire(await response.json()) as ChatReply);
  } catch (error) {
    if (!signal.aborted) throw chatProblem(error);
  }
}
