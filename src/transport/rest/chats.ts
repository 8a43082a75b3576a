import Negotiator from 'negotiator';
import type { z } from 'zod';
import type { ErrorCode } from '../../errors/errors.ts';
import {
  Chat,
  type ChatInput,
  type ChatMutationVariables,
  ChatStream,
  Execute,
  ExecuteStream,
} from '../../generated/operations/rest.ts';
import {
  acceptedReply,
  chatBody,
  chatHeaders,
  chatQuery,
  chatReply,
  executeBody,
  executeReply,
  runHeaders,
  streamQuery,
} from './chat-wire.ts';
import { REPLY } from './frame-encoder.ts';
import { route } from './route.ts';
import { botParams, noQuery } from './wire.ts';

/** Error codes of routes that start a run. */
const OF_RUNS = [
  'bot_not_deployed',
  'idempotency_conflict',
  'run_not_found',
  'model_error',
  'model_timeout',
  'content_filtered',
] satisfies ErrorCode[];

/** Routes that start a run. Source: the API document, "Chat" and "Execute". */
export const chatRoutes = [
  route({
    method: 'POST',
    path: '/bots/:id/chat',
    id: 'chat',
    tag: 'Chat',
    summary: 'Send a message',
    description:
      'Sends a message to the conversation that `X-Session-ID` identifies and returns the reply. To stream the reply, ' +
      'set `stream` to `true` and include `text/event-stream` in the header `Accept`.',
    scope: 'CHAT',
    errors: [...OF_RUNS, 'session_busy'],
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, query: noQuery, headers: chatHeaders, body: chatBody },
    toVariables: ({ params, headers, body }) => ({
      variables: chatVariables(params.id, {
        ...body,
        sessionId: headers['x-session-id'],
        ...behaviourOf(headers),
        environment: body.environment ?? headers['x-environment'],
      }),
      stream: body.stream && acceptsEventStream(headers.accept),
    }),
    json: {
      operation: Chat,
      schema: chatReply,
      reply: ({ chat }) => ({
        response: chat.response,
        ...(chat.output && { output: chat.output }),
        session_id: chat.sessionId,
        run_id: chat.runId,
        latency_ms: chat.latencyMs,
        tokens_used: chat.tokensUsed,
        tools_called: chat.toolsCalled,
      }),
    },
    stream: { form: REPLY, operation: ChatStream },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/chat/stream',
    id: 'streamChatByQuery',
    tag: 'Chat',
    summary: 'Send a message in the query and stream the reply',
    description:
      'Streams the reply to the message in the query. `session_id` takes precedence over `X-Session-ID`.\n\n' +
      'An EventSource reconnects whenever the stream ends. **Without an idempotency key, each reconnection begins a new ' +
      'run: the bot answers the message again.** With a key, it joins its run and receives all frames again. Clear the ' +
      'text when the connection opens, and close the EventSource at the done frame.',
    scope: 'CHAT',
    errors: [...OF_RUNS, 'session_busy'],
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, headers: chatHeaders, query: chatQuery },
    toVariables: ({ params, headers, query }) => ({
      variables: chatVariables(params.id, {
        message: query.message,
        sessionId: query.session_id ?? headers['x-session-id'],
        ...behaviourOf(headers),
        idempotencyKey: query.idempotency_key ?? headers['idempotency-key'],
        environment: query.environment ?? headers['x-environment'],
      }),
      stream: true,
    }),
    stream: { form: REPLY, operation: ChatStream },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/chat/stream',
    id: 'streamChat',
    tag: 'Chat',
    summary: 'Send a message and stream the reply',
    description: 'Works like `chat`, but always streams the reply. Ignores `stream` and `Accept`.',
    scope: 'CHAT',
    errors: [...OF_RUNS, 'session_busy'],
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, headers: chatHeaders, query: streamQuery, body: chatBody },
    toVariables: ({ params, headers, body, query }) => ({
      variables: chatVariables(params.id, {
        ...body,
        sessionId: query.session_id ?? headers['x-session-id'],
        ...behaviourOf(headers),
        environment: body.environment ?? query.environment ?? headers['x-environment'],
      }),
      stream: true,
    }),
    stream: { form: REPLY, operation: ChatStream },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/execute',
    id: 'execute',
    tag: 'Chat',
    summary: 'Run a single prompt',
    description:
      'Runs a prompt outside any conversation, without history or memory. Streams under the same conditions as `chat`. ' +
      'With `background`, it queues the run and returns 202; follow its events.',
    scope: 'CHAT',
    errors: OF_RUNS,
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, query: noQuery, headers: runHeaders, body: executeBody },
    toVariables: ({ params, headers, body: { stream, environment, output_schema, ...body } }) => ({
      variables: {
        botId: params.id,
        input: {
          ...body,
          outputSchema: output_schema,
          environment: environment ?? headers['x-environment'],
          onDisconnect: headers['x-on-disconnect'],
          idempotencyKey: headers['idempotency-key'],
          replayOnly: headers['idempotency-replay-only'],
        },
      },
      stream: stream && acceptsEventStream(headers.accept),
      later: body.background,
    }),
    accepted: {
      operation: Execute,
      schema: acceptedReply,
      reply: ({ execute: { id } }) => ({ run_id: id, status: 'queued' as const }),
    },
    json: {
      operation: Execute,
      schema: executeReply,
      reply: ({ execute: { response, output, id, latencyMs, tokensUsed, toolsCalled } }) => ({
        response: response ?? '',
        ...(output && { output }),
        run_id: id,
        latency_ms: latencyMs ?? 0,
        tokens_used: tokensUsed,
        tools_called: toolsCalled,
      }),
    },
    stream: { form: REPLY, operation: ExecuteStream },
  }),
];

/** Whether an `Accept` header names `text/event-stream`. A wildcard does not count. */
function acceptsEventStream(accept: string): boolean {
  return new Negotiator({ headers: { accept: accept.toLowerCase() } })
    .mediaTypes()
    .includes('text/event-stream');
}

function behaviourOf(given: z.infer<typeof chatHeaders>) {
  return {
    onBusy: given['x-on-busy'],
    onDisconnect: given['x-on-disconnect'],
    idempotencyKey: given['idempotency-key'],
    replayOnly: given['idempotency-replay-only'],
  };
}

function chatVariables(
  botId: string,
  input: ChatInput & { stream?: boolean },
): ChatMutationVariables {
  const { stream: _, ...chat } = input;
  return { botId, input: chat };
}
