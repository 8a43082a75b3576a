import type { ChatInput, ChatReply } from './chats.ts';
import type { EventSource, Request } from './connection.ts';
import { graphQLFailure, header } from './failure.ts';
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
    ... on ToolStarted { seq name callId }
    ... on ToolFinished { seq name callId failed durationMs }
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

type Fault = { message: string; extensions?: Record<string, unknown> };
type Result<Data> = { data?: Data; errors?: [Fault, ...Fault[]] };
type WireEvent = { __typename: string; code?: string; message?: string };

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
      const { output, ...reply } = dataOf<{ chat: ChatReply }>(
        body,
        header(response, REQUEST_ID),
      ).chat;
      return { ...reply, ...(output && { output }) };
    },
    start: operation('/graphql/stream', STREAM, variables),
    follow: (runId, after = 0) => operation('/graphql/stream', FOLLOW, { runId, after }),
    cancel: (id) => operation('/graphql', CANCEL, { id }),
    decode,
  };
}

const REQUEST_ID = 'x-request-id';

function operation(path: string, query: string, variables: object): Request {
  const accept = path === '/graphql' ? 'application/json' : 'text/event-stream';
  return { path, headers: { accept }, body: { query, variables } };
}

/** @throws ParleyError if the operation failed. */
function dataOf<Data>(body: unknown, requestId: string | undefined): Data {
  const { data, errors } = body as Result<Data>;
  if (errors || !data) throw graphQLFailure(errors?.[0] ?? { message: 'No data.' }, requestId);
  return data;
}

const TYPES: Record<string, Pick<StreamEvent, 'type'> & { status?: string }> = {
  RunStarted: { type: 'run_started' },
  TextDelta: { type: 'text' },
  ToolStarted: { type: 'tool_started' },
  ToolFinished: { type: 'tool_finished' },
  ChatDone: { type: 'done' },
  ChatFailed: { type: 'done', status: 'failed' },
  ChatCancelled: { type: 'done', status: 'cancelled' },
};

async function* decode({ events, requestId }: EventSource): AsyncGenerator<StreamEvent> {
  for await (const { event, data = '' } of events) {
    if (event !== 'next') continue;
    const result = dataOf<{ event: WireEvent }>(JSON.parse(data), requestId);
    const { __typename, code, message = '', ...facts } = result.event;
    const error = code && { error: { code: code.toLowerCase(), message, requestId } };
    yield { ...facts, ...TYPES[__typename], ...error } as StreamEvent;
  }
}
