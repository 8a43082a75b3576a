import type { ChatReply } from '../../client/chats.ts';
import {
  ChatWhole,
  type ChatWholeMutation,
  type ChatWholeMutationVariables,
} from '../../generated/operations/console.ts';
import type { ChatEvent } from './chat-event.ts';
import { ChatProblem, chatProblem } from './chat-problem.ts';
import { noteHere } from './connection.ts';
import type { Reading } from './event-request.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import { isSessionEnd, problemFrom } from './problem.ts';
import { noteSessionEnd } from './session.ts';

/** Sends a message by GraphQL and waits for the whole reply. @throws ChatProblem */
export async function* askWhole(
  variables: ChatWholeMutationVariables,
  { signal, fetch: request = fetch }: Reading,
): AsyncGenerator<ChatEvent, void> {
  const headers = { ...CONSOLE_HEADERS, 'content-type': 'application/json' };
  const body = JSON.stringify({ variables, documentId: ChatWhole.documentId });
  try {
    const response = await request('/graphql', { method: 'POST', headers, body, signal });
    noteHere();
    const copy = response.clone();
    const { data }: { data?: ChatWholeMutation | null } = await response.json();
    if (!data?.chat) {
      const problem = await problemFrom(copy);
      if (isSessionEnd(problem)) noteSessionEnd();
      throw new ChatProblem(problem);
    }
    yield* eventsOfWhole(data.chat);
  } catch (error) {
    if (!signal.aborted) throw chatProblem(error);
  }
}

/** The events of a reply that arrived whole. */
export function* eventsOfWhole(
  reply: Pick<ChatReply, 'runId' | 'response' | 'toolsCalled' | 'latencyMs' | 'tokensUsed'>,
): Generator<ChatEvent, void> {
  const { runId, response, toolsCalled, latencyMs, tokensUsed } = reply;
  yield { type: 'run_started', runId, sessionId: null };
  for (const name of toolsCalled) {
    yield { type: 'tool_started', callId: name, name };
    yield { type: 'tool_finished', callId: name, name, failed: false };
  }
  yield { type: 'text', delta: response };
  yield { type: 'done', runId, latencyMs, tokensUsed };
}
