import { GatewayError } from '../../errors/errors.ts';
import {
  Deploy,
  type DeploymentDataFragment,
  ListDeployments,
  Rollback,
} from '../../generated/operations/rest.ts';
import { formatDiagnostic } from '../../language/diagnostic.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import {
  deployBody,
  deployHeaders,
  deploymentParams,
  deploymentsQuery,
  deploymentsReply,
  deployQuery,
  deployReply,
  refusedDeployReply,
  rollbackBody,
  rollbackReply,
  SOURCE_TYPES,
} from './deployment-wire.ts';
import { route } from './route.ts';
import { botParams, noQuery, repeatHeaders } from './wire.ts';

/** Routes that create and list deployments. Source: the API document, "Deploy". */
export const deploymentRoutes = [
  route({
    method: 'POST',
    path: '/bots/:id/deploy',
    id: 'deploy',
    tag: 'Deployments',
    summary: 'Deploy a definition',
    description:
      'Deploys a definition; the next request uses it. A source with errors changes nothing: the response is 200 with ' +
      'the status `failed`, or 400 with `strict`. If the bot has a gate, the status is `pending` until it is decided. The body may also be the source itself, as `text/plain` or ' +
      '`application/vnd.parley.agent` in UTF-8, with the other fields except `env_vars` in the query.',
    scope: 'DEPLOY',
    textBody: { field: 'agentlang', types: SOURCE_TYPES },
    errors: ['definition_invalid', 'idempotency_conflict'],
    answerHeaders: ['Idempotency-Replayed'],
    input: { params: botParams, query: deployQuery, headers: deployHeaders, body: deployBody },
    toVariables: ({ params, query, headers, body }) => ({
      variables: {
        botId: params.id,
        input: {
          source: body.agentlang,
          environment: body.environment ?? query.environment ?? headers['x-environment'],
          message: body.message ?? query.message,
          skipGate: body.skip_gate,
          envVars: Object.entries(body.env_vars).flatMap(([name, value]) =>
            value === null ? [] : [{ name, value }],
          ),
          unsetEnvVars: Object.keys(body.env_vars).filter((name) => body.env_vars[name] === null),
          idempotencyKey: headers['idempotency-key'],
        },
      },
      strict: query.strict === '1',
    }),
    json: {
      operation: Deploy,
      schema: deployReply,
      reply: ({ deploy }) => toDeployReply(deploy),
      refusal: {
        schema: refusedDeployReply,
        reason: ({ deploy }) => (deploy.status === 'FAILED' ? refusalOf(deploy) : undefined),
      },
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/deployments',
    id: 'listDeployments',
    tag: 'Deployments',
    summary: 'List deployments',
    description:
      'Returns the deployments of a bot, including failed attempts, without sources and values of variables.',
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
      operation: ListDeployments,
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
    summary: 'Roll back to an earlier deployment',
    description:
      'Creates a deployment with the source and variables of an earlier one; the next request uses it.',
    scope: 'DEPLOY',
    emptyBody: true,
    errors: ['deployment_not_found', 'deployment_not_deployable', 'idempotency_conflict'],
    answerHeaders: ['Idempotency-Replayed'],
    input: {
      params: deploymentParams,
      query: noQuery,
      headers: repeatHeaders,
      body: rollbackBody,
    },
    toVariables: ({ params, headers, body }) => ({
      variables: {
        botId: params.id,
        deploymentId: params.deployment_id,
        message: body.message,
        idempotencyKey: headers['idempotency-key'],
      },
    }),
    json: {
      operation: Rollback,
      schema: rollbackReply,
      reply: ({ rollback }) => ({
        ...toDeployReply(rollback),
        rolled_back_to: rollback.rolledBackTo?.id ?? null,
      }),
    },
  }),
];

/** The error of a failed deployment, with the first of its reasons. */
function refusalOf(deployment: DeploymentDataFragment): GatewayError {
  const [first, ...others] = linesOf(deployment, 'ERROR');
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  return new GatewayError('definition_invalid', `Nothing was deployed: ${first}${more}.`);
}

function linesOf({ diagnostics }: DeploymentDataFragment, severity: 'ERROR' | 'WARNING'): string[] {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).map(formatDiagnostic);
}

/** Maps a deployment to the documented response. */
function toDeployReply(deployment: DeploymentDataFragment) {
  return {
    deployment_id: deployment.id,
    bot_id: deployment.bot.id,
    status: toLowerCase(deployment.status),
    deployed_at: (deployment.endedAt ?? deployment.createdAt).toISOString(),
    ended_at: deployment.endedAt?.toISOString() ?? null,
    channels: deployment.channels.map(toLowerCase),
    parse_errors: linesOf(deployment, 'ERROR'),
    warnings: linesOf(deployment, 'WARNING'),
  };
}

/** Maps a deployment to an entry of the list. */
function toDeploymentEntry(deployment: DeploymentDataFragment) {
  return {
    ...toDeployReply(deployment),
    environment: toLowerCase(deployment.environment),
    message: deployment.message,
    active: deployment.active,
    rolled_back_to: deployment.rolledBackTo?.id ?? null,
  };
}
