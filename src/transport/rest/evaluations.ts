import type { z } from 'zod';
import {
  ListEvaluations,
  ReadEvaluation,
  StartEvaluation,
} from '../../generated/operations/rest.ts';
import { isActiveEvaluation } from '../../vocabulary/evaluations.ts';
import { toEvaluationReply, toResultsReply } from './evaluation-reply.ts';
import { evaluationReply, evaluationsReply, startedReply } from './evaluation-reply-wire.ts';
import {
  evaluationBody,
  evaluationParams,
  evaluationsQuery,
  resultsPage,
  resultsQuery,
} from './evaluation-wire.ts';
import { route } from './route.ts';
import { botParams, noQuery } from './wire.ts';

/** Routes that run the tests of definitions and repeat recorded runs. Source: docs/rest.md, "Evaluations". */
export const evaluationRoutes = [
  route({
    method: 'POST',
    path: '/bots/:id/evaluations',
    id: 'startEvaluation',
    tag: 'Evaluations',
    summary: 'Start an evaluation',
    description:
      'Runs the tests of a definition, and repeats recorded runs with it, in the background. No tool is called, and no ' +
      'session, memory or deployment changes. Each attempt at a case counts as one request. The answer is 202; one ' +
      'without cases has ended, with 200. `replay` requires the scope `runs` too.',
    scope: 'DEPLOY',
    errors: ['definition_invalid', 'deployment_not_found', 'run_not_found'],
    input: { params: botParams, query: noQuery, body: evaluationBody },
    toVariables: ({ params, body }) => ({
      variables: {
        botId: params.id,
        input: {
          source: body.agentlang,
          deploymentId: body.deployment_id,
          environment: body.environment,
          envVars: Object.entries(body.env_vars).map(([name, value]) => ({ name, value })),
          tests: body.tests,
          replay: body.replay && replayOf(body.replay),
          repeat: body.repeat,
          model: body.model,
          judgeModel: body.judge_model,
        },
      },
    }),
    json: {
      operation: StartEvaluation,
      schema: startedReply,
      reply: ({ startEvaluation }) => toEvaluationReply(startEvaluation),
      isPending: ({ startEvaluation }) => isActiveEvaluation(startEvaluation),
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/evaluations',
    id: 'listEvaluations',
    tag: 'Evaluations',
    summary: 'List evaluations',
    description: 'Returns the evaluations of a bot, newest first, without their results.',
    scope: 'DEPLOY',
    errors: [],
    input: { params: botParams, query: evaluationsQuery },
    toVariables: ({ params, query: { limit, cursor } }) => ({
      variables: { botId: params.id, first: limit, after: cursor },
    }),
    json: {
      operation: ListEvaluations,
      schema: evaluationsReply,
      reply: ({ bot }) => ({
        evaluations: bot.evaluations.edges.map(({ node }) => toEvaluationReply(node)),
        next_cursor: bot.evaluations.pageInfo.hasNextPage
          ? bot.evaluations.pageInfo.endCursor
          : null,
      }),
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/evaluations/:evaluation_id',
    id: 'readEvaluation',
    tag: 'Evaluations',
    summary: 'Retrieve an evaluation',
    description:
      'Returns an evaluation with a page of its results: with 202 until it has ended. An evaluation has at most 600 results.',
    scope: 'DEPLOY',
    errors: ['evaluation_not_found'],
    input: { params: evaluationParams, query: resultsQuery },
    toVariables: ({ params, query }) => ({
      variables: { botId: params.id, id: params.evaluation_id, ...resultsPage(query) },
      asked: query.limit,
    }),
    json: {
      operation: ReadEvaluation,
      schema: evaluationReply,
      reply: ({ evaluation }, limit) => ({
        ...toEvaluationReply(evaluation),
        ...toResultsReply(evaluation.results, limit),
      }),
      isPending: ({ evaluation }) => isActiveEvaluation(evaluation),
    },
  }),
];

/** The runs to repeat, as the schema names them. */
function replayOf({
  last,
  run_ids: runIds,
  session,
  ...filter
}: NonNullable<z.infer<typeof evaluationBody>['replay']>) {
  const hasFilter = Object.values(filter).some((value) => value !== undefined);
  return { last, runIds, session, ...(hasFilter && { filter }) };
}
