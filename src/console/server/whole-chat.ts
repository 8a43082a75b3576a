import {
  ChatWhole,
  type ChatWholeMutation,
  type ChatWholeMutationVariables,
} from '../../generated/operations/console.ts';
import type { Step } from './call.ts';
import { noteAway, noteHere } from './connection.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import { AWAY, isSessionEnd, problemFrom } from './problem.ts';
import { noteSessionEnd } from './session.ts';
import { ChatProblem, type Reading } from './stream-chat.ts';

/** Sends a message by GraphQL and waits for the whole reply. @throws ChatProblem */
export async function* askWhole(
  variables: ChatWholeMutationVariables,
  { signal, recording }: Reading,
): AsyncGenerator<Step, void> {
  const headers = { ...CONSOLE_HEADERS, 'content-type': 'application/json' };
  const body = JSON.stringify({ documentId: ChatWhole.documentId, variables });
  const away = (cause: unknown) => {
    if (signal.aborted) return undefined;
    noteAway();
    throw new ChatProblem(AWAY, { cause });
  };
  const response = await recording
    .fetch('/graphql', { method: 'POST', headers, body, signal })
    .catch(away);
  if (!response) return;
  noteHere();
  const copy = response.clone();
  const answer = (await response.json().catch(away)) as Answer | undefined;
  if (!answer) return;
  if (!answer.data?.chat) {
    const problem = await problemFrom(copy);
    if (isSessionEnd(problem)) noteSessionEnd();
    throw new ChatProblem(problem);
  }
  yield* stepsOfWhole(answer.data.chat);
}

type Answer = { data?: ChatWholeMutation | null };

type WholeReply = {
  runId: string;
  response: string;
  toolsCalled: string[];
  latencyMs: number;
  tokensUsed: number;
};

/** The steps of a reply that arrived whole. */
export function* stepsOfWhole(reply: WholeReply): Generator<Step, void> {
  const { runId, response, toolsCalled, latencyMs, tokensUsed } = reply;
  yield { type: 'started', runId };
  for (const name of toolsCalled) {
    yield { type: 'tool-started', callId: name, name };
    yield { type: 'tool-finished', callId: name, failed: false };
  }
  yield { type: 'text', text: response };
  yield { type: 'ended', state: 'done', latencyMs, tokens: tokensUsed };
}
