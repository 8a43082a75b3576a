import {
  CancelRun,
  type CancelRunMutation,
  ListRuns,
  ReadRun,
  type RunContentsFragment,
  RunEvents,
  RunEventsEnd,
  type RunFactsFragment,
  StopRun,
  type StopRunMutation,
} from '../../generated/operations/rest.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { EVENTS } from './frame-encoder.ts';
import { route } from './route.ts';
import { eventsHeaders, eventsQuery, runParams, runsQuery } from './run-query.ts';
import { runReply, runsReply, stoppedRunReply } from './run-wire.ts';
import { toToolCall } from './tool-call-wire.ts';
import { botParams, noQuery } from './wire.ts';

/** Routes that read, follow and cancel runs. Source: docs/rest.md, "Runs". */
export const runRoutes = [
  route({
    method: 'GET',
    path: '/bots/:id/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'List runs',
    description: 'Returns the runs that match all parameters, with their traces.',
    scope: 'RUNS',
    errors: [],
    input: { params: botParams, query: runsQuery },
    toVariables: ({ params, query: { limit, cursor, ...filter } }) => ({
      variables: {
        botId: params.id,
        first: limit,
        after: cursor,
        filter: {
          ...filter,
          status: filter.status && [filter.status],
          channel: filter.channel && [filter.channel],
          entrance: filter.entrance && [filter.entrance],
        },
      },
    }),
    json: {
      operation: ListRuns,
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
    summary: 'Retrieve a run',
    description: 'Returns a run in its current state, with its trace.',
    scope: 'RUNS',
    errors: ['run_not_found'],
    input: { params: runParams, query: noQuery },
    toVariables: ({ params }) => ({ variables: { botId: params.id, runId: params.run_id } }),
    json: { operation: ReadRun, schema: runReply, reply: ({ run }) => toRunReply(run) },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/runs/:run_id/events',
    id: 'followRun',
    tag: 'Runs',
    summary: 'Follow the events of a run',
    description:
      'Replays the events of a run from any position, then streams new events until the run finishes. Each event ' +
      'arrives exactly once. Events are kept for at least 24 hours. With a `Last-Event-ID` at or behind the end of a ' +
      'finished run, the response is 204, which makes an EventSource stop.',
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
      lastEventId: headers['last-event-id'],
    }),
    stream: { form: EVENTS, operation: RunEvents, end: RunEventsEnd },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/runs/:run_id/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'Cancel a run',
    description:
      'Cancels a queued or running run and returns it. A finished run is returned unchanged. Without the scope `runs`, the contents of the run are null.',
    scope: ['CHAT', 'RUNS'],
    emptyBody: true,
    errors: ['run_not_found'],
    input: { params: runParams, query: noQuery },
    toVariables: ({ params }) => ({ variables: { botId: params.id, runId: params.run_id } }),
    json: {
      operation: CancelRun,
      limited: { without: 'RUNS', operation: StopRun },
      schema: stoppedRunReply,
      reply: ({ cancelRun }: CancelRunMutation | StopRunMutation) => toStoppedRunReply(cancelRun),
    },
  }),
];

/** Maps a run to the documented response. */
export function toRunReply(run: RunFactsFragment & RunContentsFragment) {
  const tool_calls = run.toolCalls.map(toToolCall);
  const trigger = toLowerCase(run.trigger);
  return {
    ...toStoppedRunReply(run),
    input: run.input,
    trigger,
    tool_calls,
    trace: toTrace(run.trace),
  };
}

/** Maps a run that the key may cancel but not read: its contents are null. */
function toStoppedRunReply(run: RunFactsFragment & Partial<RunContentsFragment>) {
  return {
    run_id: run.id,
    bot_id: run.bot.id,
    deployment_id: run.deployment?.id ?? null,
    environment: toLowerCase(run.environment),
    kind: toLowerCase(run.kind),
    status: toLowerCase(run.status),
    channel: toLowerCase(run.channel),
    entrance: run.entrance && toLowerCase(run.entrance),
    trigger: run.trigger ? toLowerCase(run.trigger) : null,
    caused_by: run.causedById ?? null,
    session_id: run.sessionId,
    input: run.input ?? null,
    response: run.response ?? null,
    ...(run.output && { output: run.output }),
    metadata: run.metadata ?? null,
    error: run.error ? { code: run.error.code.toLowerCase(), message: run.error.message } : null,
    model: run.model,
    created_at: run.createdAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    latency_ms: run.latencyMs,
    tokens_used: run.tokensUsed,
    prompt_tokens: run.promptTokens,
    completion_tokens: run.completionTokens,
    tokens_estimated: run.tokensEstimated,
    cached_tokens: run.cachedTokens,
    reasoning_tokens: run.reasoningTokens,
    finish_reason: run.finishReason,
    tools_called: run.toolsCalled,
    tool_calls: run.toolCalls?.map(toToolCall) ?? null,
    trace: run.trace ? toTrace(run.trace) : null,
  };
}

function toTrace({ traceId, spans }: RunContentsFragment['trace']) {
  return {
    trace_id: traceId,
    spans: spans.map((span) => ({
      span_id: span.spanId,
      parent_id: span.parentId,
      name: span.name,
      started_at: span.startedAt.toISOString(),
      duration_ms: span.durationMs,
      status: toLowerCase(span.status),
      attributes: span.attributes,
    })),
  };
}
