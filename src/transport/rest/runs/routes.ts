import { cancelRun, listRuns, readRun, runEvents, stopRun } from '../../../operations/runs.ts';
import { route } from '../route.ts';
import { botParams } from '../wire.ts';
import { runReply, runsReply, stoppedRunReply } from './replies.ts';
import { toRunReply, toStoppedRunReply } from './run-reply.ts';
import { eventsHeaders, eventsQuery, runParams, runsQuery } from './wire.ts';

/** Routes that read, follow and cancel runs. Source: the decisions, section 6. */
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
    summary: 'Retrieve a run',
    description: 'Returns a run in its current state, with its trace.',
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
      'Replays the events of a run from any position, then streams new events until the run finishes. Each event ' +
      'arrives exactly once. Events are kept for at least 24 hours.',
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
    summary: 'Cancel a run',
    description:
      'Cancels a queued or running run and returns it. A finished run is returned unchanged. Without the scope `runs`, the contents of the run are null.',
    scope: ['CHAT', 'RUNS'],
    emptyBody: true,
    errors: ['run_not_found'],
    input: { params: runParams },
    toVariables: ({ params }) => ({ variables: { botId: params.id, runId: params.run_id } }),
    json: {
      operation: cancelRun,
      limited: { without: 'RUNS', operation: stopRun },
      schema: stoppedRunReply,
      reply: ({ cancelRun }) => toStoppedRunReply(cancelRun),
    },
  }),
];
