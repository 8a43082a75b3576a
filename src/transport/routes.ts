import Negotiator from 'negotiator';
import type { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import {
  type ChatVariables,
  chat,
  chatStream,
  execute,
  executeStream,
} from '../operations/chat.ts';
import { deploy, listDeployments, rollback } from '../operations/deployments.ts';
import { cancelRun, listRuns, readRun, runEvents } from '../operations/runs.ts';
import { toDeploymentEntry, toDeployReply } from './deploy-reply.ts';
import {
  acceptedReply,
  chatReply,
  deploymentsReply,
  deployReply,
  executeReply,
  rollbackReply,
  runReply,
  runsReply,
} from './replies.ts';
import { route } from './route.ts';
import { toRunReply } from './run-reply.ts';
import {
  botParams,
  chatBody,
  chatHeaders,
  chatQuery,
  deployBody,
  deploymentParams,
  deploymentsQuery,
  eventsHeaders,
  eventsQuery,
  executeBody,
  repeatHeaders,
  rollbackBody,
  runHeaders,
  runParams,
  runsQuery,
  streamQuery,
} from './wire.ts';

/** The refusals of a route that begins a run. */
const OF_RUNS = [
  'bot_not_deployed',
  'idempotency_conflict',
  'model_error',
  'model_timeout',
] satisfies ErrorCode[];

/** Every route of the REST interface. Source: the API document, "Endpoints". */
export const routes = [
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
  route({
    method: 'GET',
    path: '/bots/:id/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'List the runs',
    description: 'Those to which all parameters apply, with their traces.',
    scope: 'RUNS',
    errors: [],
    input: { params: botParams, query: runsQuery },
    toVariables: ({ params, query: { limit, cursor, status, channel, ...filter } }) => ({
      variables: {
        botId: params.id,
        first: limit,
        after: cursor,
        filter: { ...filter, status: status && [status], channel: channel && [channel] },
      },
    }),
    json: {
      operation: listRuns,
      schema: runsReply,
      reply: ({ runs: { edges, pageInfo } }) => ({
        runs: edges.map(({ node }) => toRunReply(node)),
        next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
      }),
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/runs/:run_id',
    id: 'readRun',
    tag: 'Runs',
    summary: 'Read a run',
    description: 'Whatever it was, and how it stands now, with its trace.',
    scope: 'RUNS',
    errors: ['run_not_found'],
    input: { params: runParams },
    toVariables: ({ params }) => ({ variables: { botId: params.id, runId: params.run_id } }),
    json: { operation: readRun, schema: runReply, reply: ({ run }) => toRunReply(run) },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/runs/:run_id/events',
    id: 'followRun',
    tag: 'Runs',
    summary: 'Follow the events of a run',
    description:
      'Replays what has happened in a run, from any position, and goes on with it live: nothing lost and nothing ' +
      'twice, for at least 24 hours.',
    scope: ['CHAT', 'RUNS'],
    errors: ['run_not_found'],
    input: { params: runParams, query: eventsQuery, headers: eventsHeaders },
    toVariables: ({ params, query, headers }) => ({
      variables: {
        botId: params.id,
        runId: params.run_id,
        after: headers['last-event-id'] ?? query.after,
      },
      stream: true,
    }),
    stream: { form: 'events', operation: runEvents },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/runs/:run_id/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'Stop a run',
    description: 'A run that is over is answered as it is.',
    scope: ['CHAT', 'RUNS'],
    emptyBody: true,
    errors: ['run_not_found'],
    input: { params: runParams },
    toVariables: ({ params }) => ({ variables: { botId: params.id, runId: params.run_id } }),
    json: {
      operation: cancelRun,
      schema: runReply,
      reply: ({ cancelRun }) => toRunReply(cancelRun),
    },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/deploy',
    id: 'deploy',
    tag: 'Deployments',
    summary: 'Deploy a definition',
    description:
      'It is live for the very next request. A source with mistakes changes nothing: the answer is 200 all the ' +
      'same, with the status `failed`.',
    scope: 'DEPLOY',
    errors: ['idempotency_conflict'],
    answerHeaders: ['Idempotency-Replayed'],
    input: { params: botParams, headers: repeatHeaders, body: deployBody },
    toVariables: ({ params, headers, body }) => ({
      variables: {
        botId: params.id,
        input: {
          source: body.agentlang,
          environment: body.environment,
          message: body.message,
          envVars: Object.entries(body.env_vars).flatMap(([name, value]) =>
            value === null ? [] : [{ name, value }],
          ),
          unsetEnvVars: Object.keys(body.env_vars).filter((name) => body.env_vars[name] === null),
          idempotencyKey: headers['idempotency-key'],
        },
      },
    }),
    json: {
      operation: deploy,
      schema: deployReply,
      reply: ({ deploy }) => toDeployReply(deploy),
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/deployments',
    id: 'listDeployments',
    tag: 'Deployments',
    summary: 'List the deployments',
    description: 'Failed attempts too; no source, and no values of variables.',
    errors: [],
    input: { params: botParams, query: deploymentsQuery },
    toVariables: ({ params, query }) => ({
      variables: {
        botId: params.id,
        first: query.limit,
        after: query.cursor,
        environment: query.environment,
        status: query.status,
      },
    }),
    json: {
      operation: listDeployments,
      schema: deploymentsReply,
      reply: ({ bot: { deployments } }) => ({
        deployments: deployments.edges.map(({ node }) => toDeploymentEntry(node)),
        next_cursor: deployments.pageInfo.hasNextPage ? deployments.pageInfo.endCursor : null,
      }),
    },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/deployments/:deployment_id/rollback',
    id: 'rollback',
    tag: 'Deployments',
    summary: 'Go back to an earlier deployment',
    description: 'Makes a new deployment of its source and its variables, which is live at once.',
    scope: 'DEPLOY',
    emptyBody: true,
    errors: ['deployment_not_found', 'deployment_not_deployable', 'idempotency_conflict'],
    answerHeaders: ['Idempotency-Replayed'],
    input: { params: deploymentParams, headers: repeatHeaders, body: rollbackBody },
    toVariables: ({ params, headers, body }) => ({
      variables: {
        botId: params.id,
        deploymentId: params.deployment_id,
        message: body.message,
        idempotencyKey: headers['idempotency-key'],
      },
    }),
    json: {
      operation: rollback,
      schema: rollbackReply,
      reply: ({ rollback }) => ({
        ...toDeployReply(rollback),
        rolled_back_to: rollback.rolledBackTo?.id ?? null,
      }),
    },
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
