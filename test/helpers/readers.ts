import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { TestApp } from './app.ts';

/** One item that a reader receives: an event's type, an error's code, or the reason of a close. */
export type ReadItem = { what: string; runId?: string | undefined };

/** What to read, and the credentials to use. */
export type Reading = {
  app: TestApp;
  bot: string;
  /** An API key or a session token. */
  secret: string;
  /** Default: a new session. */
  sessionId?: string;
  /** GraphQL only: the run to follow, instead of sending a message. */
  follow?: string;
  /** REST only. */
  headers?: Record<string, string>;
};

/** Sends a message to a bot and reads the events until the stream ends. */
export type Reader = (reading: Reading) => AsyncGenerator<ReadItem>;

const QUERY = `subscription ($botId: ID!, $sessionId: String) {
  chat(botId: $botId, input: { message: "Hi", sessionId: $sessionId, onDisconnect: CANCEL }) {
    __typename
    ... on RunStarted { runId }
  }
}`;

const FOLLOW = `subscription ($botId: ID!, $runId: ID!) {
  runEvents(botId: $botId, runId: $runId) { __typename ... on RunStarted { runId } }
}`;

type Chat = Record<string, { __typename: string; runId?: string }>;
type Result = { data?: Chat | null | undefined; errors?: readonly { extensions?: unknown }[] };

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
const operationOf = ({ bot: botId, sessionId, follow: runId }: Reading) =>
  runId === undefined
    ? { query: QUERY, variables: { botId, sessionId } }
    : { query: FOLLOW, variables: { botId, runId } };

async function* itemsOf(results: AsyncIterable<Result>): AsyncGenerator<ReadItem> {
  for await (const { data, errors } of results) {
    const { code } = (errors?.[0]?.extensions ?? {}) as { code?: string };
    const [event] = Object.values(data ?? {});
    yield { what: event?.__typename ?? code ?? 'nothing', runId: event?.runId };
  }
}

/** The parsed JSON of each frame. */
export async function* readFrames({
  body,
}: {
  body: AsyncIterable<Uint8Array> | null;
}): AsyncGenerator<Record<string, unknown>> {
  let text = '';
  // A character may begin in one chunk and end in the next.
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const whole = text.split('\n\n');
    text = whole.pop() ?? '';
    for (const frame of whole) {
      const data = /^data: ?(\{.*\})$/m.exec(frame)?.[1];
      if (data) yield JSON.parse(data);
    }
  }
}

/** Readers for the streaming GraphQL transports. */
export const GRAPHQL_READERS = {
  async *yoga(reading) {
    const { app, secret } = reading;
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        ...bearer(secret),
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify(operationOf(reading)),
    });
    yield* itemsOf(readFrames(response) as AsyncIterable<Result>);
  },

  async *'graphql-sse'(reading) {
    const { app, secret } = reading;
    const url = `${app.url}/graphql/stream`;
    const client = createEventClient({ url, headers: bearer(secret), retryAttempts: 0 });
    yield* itemsOf(client.iterate<Chat>(operationOf(reading)));
  },

  async *'graphql-sse on one connection'(reading) {
    const { app, secret } = reading;
    const client = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: bearer(secret),
      singleConnection: true,
      retryAttempts: 0,
    });
    yield* itemsOf(client.iterate<Chat>(operationOf(reading)));
    client.dispose();
  },
} satisfies Record<string, Reader>;

/** Reads from a WebSocket, including the reason of its close. */
export const overWebSocket: Reader = async function* (reading) {
  const { app, secret } = reading;
  const client = createClient({
    url: app.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: bearer(secret),
    retryAttempts: 0,
  });
  try {
    yield* itemsOf(client.iterate<Chat>(operationOf(reading)));
  } catch (closed) {
    const { code, reason } = closed as { code: number; reason: string };
    yield { what: `${code} ${reason}` };
  }
};

const overRest = (path: string, body?: object): Reader =>
  async function* ({ app, bot, secret, sessionId, headers }) {
    const response = await fetch(`${app.url}/v1/bots/${bot}/${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        ...bearer(secret),
        accept: 'text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...(sessionId && { 'x-session-id': sessionId }),
        ...headers,
      },
    });
    const runId = response.headers.get('x-run-id') ?? undefined;
    if (!response.ok) yield { what: `status ${response.status}` };
    for await (const { event, error, status } of readFrames(response)) {
      const { code } = (error ?? {}) as { code?: string };
      const what = [event ?? 'delta', code ?? status].filter(Boolean).join(' ');
      yield { what, runId };
    }
  };

/** Readers for the REST routes that stream a reply. */
export const REST_READERS = {
  'POST chat': overRest('chat', { message: 'Hi', stream: true }),
  'GET chat/stream': overRest('chat/stream?message=Hi'),
  'POST chat/stream': overRest('chat/stream', { message: 'Hi' }),
  'POST execute': overRest('execute', { prompt: 'Hi', stream: true }),
} satisfies Record<string, Reader>;

/** Reads the events of an existing run. */
export const eventsOf = (runId: string): Reader => overRest(`runs/${runId}/events`);

/** Reads to the end, and calls a function after the bot's first text. */
export async function readWhole(items: AsyncIterable<ReadItem>, onDelta: () => unknown) {
  const whats: string[] = [];
  let runId: string | undefined;
  for await (const one of items) {
    runId ??= one.runId;
    whats.push(one.what);
    if (['TextDelta', 'delta'].includes(one.what)) await onDelta();
  }
  return { items: whats, runId };
}
