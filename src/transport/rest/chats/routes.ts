import Negotiator from 'negotiator';
import type { z } from 'zod';
import type { ErrorCode } from '../../../errors.ts';
import {
  type ChatVariables,
  chat,
  chatStream,
  execute,
  executeStream,
} from '../../../operations/chat.ts';
import { route } from '../route.ts';
import { botParams } from '../wire.ts';
import { acceptedReply, chatReply, executeReply } from './replies.ts';
import { chatBody, chatHeaders, chatQuery, executeBody, runHeaders, streamQuery } from './wire.ts';

/** The refusals of a route that begins a run. */
const OF_RUNS = [
  'bot_not_deployed',
  'idempotency_conflict',
  'model_error',
  'model_timeout',
] satisfies ErrorCode[];

/** What begins a run and answers with what is said. Source: the API document, "Chat" and "Execute". */
export const chatRoutes = [
  route({
    method: 'POST',
    path: '/bots/:id/chat',
    id: 'chat',
    tag: 'Chat',
    summary: 'Send a message',
    description:
      'The bot answers in the conversation that `X-Session-ID` names. Streamed where `stream` is `true` and the ' +
      'header `Accept` names `text/event-stream`; else as a whole.',
    scope: 'CHAT',
    errors: [...OF_RUNS, 'session_busy'],
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, headers: chatHeaders, body: chatBody },
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
      operation: chat,
      schema: chatReply,
      reply: ({ chat }) => ({
        response: chat.response,
        session_id: chat.sessionId,
        run_id: chat.runId,
        latency_ms: chat.latencyMs,
        tokens_used: chat.tokensUsed,
        tools_called: chat.toolsCalled,
      }),
    },
    stream: { form: 'reply', operation: chatStream },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/chat/stream',
    id: 'streamChatByQuery',
    tag: 'Chat',
    summary: 'Send a message by query, and stream the reply',
    description: 'The query names the conversation, or else `X-Session-ID` does.',
    scope: 'CHAT',
    errors: [...OF_RUNS, 'session_busy'],
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, headers: chatHeaders, query: chatQuery },
    toVariables: ({ params, headers, query }) => ({
      variables: chatVariables(params.id, {
        ...query,
        sessionId: query.session_id ?? headers['x-session-id'],
        ...behaviourOf(headers),
        environment: query.environment ?? headers['x-environment'],
      }),
      stream: true,
    }),
    stream: { form: 'reply', operation: chatStream },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/chat/stream',
    id: 'streamChat',
    tag: 'Chat',
    summary: 'Send a message, and stream the reply',
    description: 'As `chat` does, but always streamed, whatever `stream` and `Accept` say.',
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
    stream: { form: 'reply', operation: chatStream },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/execute',
    id: 'execute',
    tag: 'Chat',
    summary: 'Run a prompt by itself',
    description:
      'Outside of any conversation: no history is read or written, and no memory is touched. Streamed as `chat` is. ' +
      'With `background` it is answered with 202 at once, and done without you: follow its events.',
    scope: 'CHAT',
    errors: OF_RUNS,
    answerHeaders: ['X-Run-Id', 'Idempotency-Replayed'],
    input: { params: botParams, headers: runHeaders, body: executeBody },
    toVariables: ({ params, headers, body: { stream, environment, ...body } }) => ({
      variables: {
        botId: params.id,
        input: {
          ...body,
          environment: environment ?? headers['x-environment'],
          onDisconnect: headers['x-on-disconnect'],
          idempotencyKey: headers['idempotency-key'],
        },
      },
      stream: stream && acceptsEventStream(headers.accept),
      later: body.background,
    }),
    accepted: {
      operation: execute,
      schema: acceptedReply,
      reply: ({ execute: { id } }) => ({ run_id: id, status: 'queued' as const }),
    },
    json: {
      operation: execute,
      schema: executeReply,
      reply: ({ execute: { response, id, latencyMs, tokensUsed, toolsCalled } }) => ({
        response: response ?? '',
        run_id: id,
        latency_ms: latencyMs ?? 0,
        tokens_used: tokensUsed,
        tools_called: toolsCalled,
      }),
    },
    stream: { form: 'reply', operation: executeStream },
  }),
];

/** Whether an `Accept` header names `text/event-stream`; that it would take anything is not enough. */
function acceptsEventStream(accept: string): boolean {
  return new Negotiator({ headers: { accept: accept.toLowerCase() } })
    .mediaTypes()
    .includes('text/event-stream');
}

/** What the caller wants of a chat, by its headers. */
function behaviourOf(given: z.infer<typeof chatHeaders>) {
  return {
    onBusy: given['x-on-busy'],
    onDisconnect: given['x-on-disconnect'],
    idempotencyKey: given['idempotency-key'],
  };
}

function chatVariables(
  botId: string,
  input: ChatVariables['input'] & { stream?: boolean },
): ChatVariables {
  const { message, sessionId, context, environment, onBusy, onDisconnect, idempotencyKey } = input;
  return {
    botId,
    input: { message, sessionId, context, environment, onBusy, onDisconnect, idempotencyKey },
  };
}
