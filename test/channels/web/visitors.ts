import { expect } from 'vitest';
import type { GraphQLAnswer, Tenant, TestApp } from '../../helpers/app.ts';

/** The members of a definition with a chat page. */
export const WEB = `channel web {
    welcome "Hi! Ask me about an order."
    suggestions "Where is my order?", "I want to return something"
  }`;

/** The answer to a visit. */
export type VisitAnswer = { token: string; expiresAt: string; resume: string };

/** Asks for a session as a visitor's page does. @param headers replace the headers of the chat page. */
export function postVisit(
  app: TestApp,
  bot: string,
  body: unknown = {},
  headers: Record<string, string> = { origin: app.url },
): Promise<Response> {
  return fetch(`${app.url}/chat/${bot}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Begins a visit of a bot's chat page, or continues one. */
export async function visit(app: TestApp, bot: string, resume?: string): Promise<VisitAnswer> {
  const answer = await postVisit(app, bot, { resume });
  expect(answer.status).toBe(200);
  return (await answer.json()) as VisitAnswer;
}

/** Runs an operation with a visitor's token. @param headers replace the headers of the chat page. */
export async function askAsVisitor(
  app: TestApp,
  token: string,
  query: string,
  headers: Record<string, string> = { origin: app.url },
): Promise<GraphQLAnswer> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as GraphQLAnswer;
}

/** Sends a message as a visitor. */
export const say = (app: TestApp, bot: string, token: string, headers?: Record<string, string>) =>
  askAsVisitor(
    app,
    token,
    `mutation { chat(botId: "${bot}", input: { message: "Hi" }) { response sessionId runId } }`,
    headers,
  );

/** The code of an answer's first error. */
export const codeOf = ({ errors }: GraphQLAnswer) => errors?.[0]?.extensions.code;

/** Changes a bot's settings. */
export async function updateBot(tenant: Tenant, id: string, input: object) {
  const { data, errors } = await tenant.graphql(
    `mutation ($id: ID!, $input: UpdateBotInput!) {
      updateBot(id: $id, input: $input) { name webOrigins visitorSessionsPerHour visitorMessagesPerMinute }
    }`,
    { id, input },
  );
  return { bot: data?.updateBot, details: errors?.[0]?.extensions.details };
}
