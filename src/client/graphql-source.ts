import type { ChatInput, ChatReply } from './chats.ts';
import type { Request } from './connection.ts';
import type { EventSource } from './event-stream.ts';
import { failure, header } from './failure.ts';
import { eventOf, type Result, readResults, type SchemaEvent } from './graphql-events.ts';
import { faultOf } from './response.ts';
import type { RunSource, StreamEvent } from './run-source.ts';

const CHAT = `mutation Chat($botId: ID!, $input: ChatInput!) {
  chat(botId: $botId, input: $input) {
    response output sessionId runId latencyMs tokensUsed toolsCalled
  }
}`;

const EVENTS = `
    __typename
    ... on RunStarted { seq runId sessionId }
    ... on TextDelta { seq delta }
    ... on ChatDone { seq runId latencyMs }
    ... on ChatFailed { seq runId latencyMs code message }
    ... on ChatCancelled { seq runId latencyMs }`;

const STREAM = `subscription ChatStream($botId: ID!, $input: ChatInput!) {
  event: chat(botId: $botId, input: $input) {${EVENTS}
  }
}`;

const FOLLOW = `subscription RunEvents($runId: ID!, $after: Int!) {
  event: runEvents(runId: $runId, after: $after) {${EVENTS}
  }
}`;

const CANCEL = 'mutation CancelRun($id: ID!) { cancelRun(id: $id) { id } }';

/** A chat by GraphQL, the only interface for session tokens. */
export function graphQLChat(
  botId: string,
  { environment, onBusy, ...input }: ChatInput,
  idempotencyKey: string,
): RunSource<ChatReply> {
  const variables = {
    botId,
    input: {
      ...input,
      environment: environment?.toUpperCase(),
      onBusy: onBusy?.toUpperCase(),
      idempotencyKey,
    },
  };
  return {
    whole: operation('/graphql', CHAT, variables),
    read(body, response) {
      const { output, ...reply } = dataOf<{ chat: ChatReply }>(body, response).chat;
      return { ...reply, ...(output && { output }) };
    },
    start: operation('/graphql/stream', STREAM, variables),
    join: operation('/graphql/stream', STREAM, {
      botId,
      input: { ...variables.input, replayOnly: true },
    }),
    follow: (runId, after = 0) => operation('/graphql/stream', FOLLOW, { runId, after }),
    cancel: (id) => operation('/graphql', CANCEL, { id }),
    decode,
  };
}

function operation(path: string, query: string, variables: object): Request {
  const accept = path === '/graphql' ? 'application/json' : 'text/event-stream';
  return { path, headers: { accept }, body: { query, variables } };
}

/** @throws ParleyError if the operation failed. */
function dataOf<Data>(body: unknown, response: Response): Data {
  const { data, errors } = body as Result<Data>;
  if (data && !errors) return data;
  const [fault = { message: 'The response has no data.' }] = errors ?? [];
  throw failure({ requestId: header(response, 'x-request-id'), ...faultOf(fault) });
}

async function* decode({ events, response }: EventSource): AsyncGenerator<StreamEvent> {
  for await (const result of readResults<{ event: SchemaEvent }>(events)) {
    const event = eventOf(dataOf<{ event: SchemaEvent }>(result, response).event, response);
    if (event) yield event;
  }
}
