import { eventOf } from '../../client/graphql-events.ts';
import {
  Chat,
  type ChatEventFragment,
  type ChatSubscriptionVariables,
  FollowRun,
} from '../../generated/operations/console.ts';
import type { ChatEvent } from './chat-event.ts';
import type { Reading } from './event-request.ts';
import { subscribe } from './follow.ts';
import type { Persisted } from './persisted.ts';
import { readRun } from './run-stream.ts';

/** Sends a message and reads the events of its run. @throws ChatProblem */
export function streamChat(
  { input, ...chat }: ChatSubscriptionVariables,
  reading: Reading,
): AsyncGenerator<ChatEvent, void> {
  const variables = { ...chat, input: { ...input, onDisconnect: 'CONTINUE' as const } };
  return readRun(reading, (position) =>
    position
      ? events(FollowRun, { runId: position.runId, after: position.seq }, reading)
      : events(Chat, variables, reading),
  );
}

/** Reads the events of a run from its first one on. @throws ChatProblem */
export function followRun(runId: string, reading: Reading): AsyncGenerator<ChatEvent, void> {
  return readRun(reading, (position = { runId, seq: 0 }) =>
    events(FollowRun, { runId, after: position.seq }, reading),
  );
}

async function events<Variables>(
  subscription: Persisted<{ event: ChatEventFragment }, Variables>,
  variables: Variables,
  reading: Reading,
): Promise<AsyncGenerator<ChatEvent, void> | undefined> {
  const results = await subscribe(subscription, variables, reading);
  return results && decode(results);
}

async function* decode(
  results: AsyncIterable<{ data: { event: ChatEventFragment }; response: Response }>,
): AsyncGenerator<ChatEvent, void> {
  for await (const { data, response } of results) {
    const event = eventOf(data.event, response);
    if (event) yield event;
  }
}
