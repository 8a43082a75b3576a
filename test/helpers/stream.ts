import { createClient } from 'graphql-ws';
import type { Tenant, TestApp } from './app.ts';

/** The frames of a complete streamed reply. */
export async function frames(response: Response): Promise<unknown[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
}

/** An event of a run, in its GraphQL form. */
export type ChatEvent = { __typename: string; seq: number; runId?: string; delta?: string };

const SUBSCRIPTION = `subscription ($botId: ID!, $input: ChatInput!) {
  chat(botId: $botId, input: $input) {
    __typename
    ... on RunStarted { seq runId sessionId }
    ... on TextDelta { seq delta }
    ... on ToolStarted { seq name callId }
    ... on ToolFinished { seq name callId failed durationMs }
    ... on ChatDone { seq runId latencyMs tokensUsed toolsCalled }
    ... on ChatFailed { seq runId latencyMs code message }
    ... on ChatCancelled { seq runId latencyMs tokensUsed }
  }
}`;

/** Chats over a WebSocket until the stream ends. @returns all events. */
export async function streamChat(
  app: TestApp,
  tenant: Tenant,
  botId: string,
  input: object,
): Promise<ChatEvent[]> {
  const client = createClient({
    url: app.webSocketUrl,
    connectionParams: { Authorization: tenant.headers.authorization },
  });
  const events: ChatEvent[] = [];
  const results = client.iterate<{ chat: ChatEvent }>({
    query: SUBSCRIPTION,
    variables: { botId, input },
  });
  for await (const { data } of results) if (data) events.push(data.chat);
  await client.dispose();
  return events;
}
