import Negotiator from 'negotiator';
import { z } from 'zod';
import {
  chatMessage,
  definitionSource,
  deployMessage,
  envName,
  envValue,
  expected,
  MAX_ENV_VARS,
  sessionId,
} from '../input.ts';
import { jsonObject } from '../json.ts';
import { type ChatVariables, chat, chatStream } from '../operations/chat.ts';
import { deploy, listDeployments, rollback } from '../operations/deployments.ts';
import { deploymentEntry, deployReply } from './deploy-reply.ts';
import { route } from './route.ts';

const environment = z
  .enum(['production', 'staging'], 'must be "production" or "staging"')
  .transform((name) => (name === 'production' ? ('PRODUCTION' as const) : ('STAGING' as const)))
  .optional();

const params = z.object({ id: z.string() });

const headers = z.object({
  'x-session-id': z.string().transform(readUtf8).pipe(sessionId).optional(),
  'x-environment': environment,
  accept: z.string().default(''),
});

const body = z.object(
  {
    message: chatMessage,
    context: jsonObject.optional(),
    stream: z.boolean(expected('a boolean')).default(false),
    environment,
  },
  'the body must be a JSON object',
);

const deploymentParams = params.extend({ deployment_id: z.string() });

const envVars = z.record(envName, envValue.nullable(), 'must be an object of texts').default({});

const deployBody = z.object(
  {
    agentlang: definitionSource,
    environment,
    message: deployMessage.optional(),
    env_vars: envVars.refine(
      (variables) => Object.keys(variables).length <= MAX_ENV_VARS,
      `must be at most ${MAX_ENV_VARS}`,
    ),
  },
  'the body must be a JSON object',
);

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().optional(),
  environment,
  status: z
    .enum(['pending', 'deployed', 'failed'], 'must be "pending", "deployed" or "failed"')
    .optional(),
});

const query = z.object({ session_id: sessionId.optional(), message: chatMessage, environment });

/** Every route of the REST interface. Source: the API document, "Endpoints". */
export const routes = [
  route({
    method: 'POST',
    path: '/bots/:id/chat',
    scope: 'CHAT',
    input: z.object({ params, headers, body }).transform(({ params, headers, body }) => ({
      variables: chatVariables(params.id, {
        ...body,
        sessionId: headers['x-session-id'],
        environment: body.environment ?? headers['x-environment'],
      }),
      stream: body.stream && acceptsEventStream(headers.accept),
    })),
    json: {
      operation: chat,
      reply: ({ chat }) => ({
        response: chat.response,
        session_id: chat.sessionId,
        run_id: chat.runId,
        latency_ms: chat.latencyMs,
        tokens_used: chat.tokensUsed,
        tools_called: chat.toolsCalled,
      }),
    },
    stream: chatStream,
  }),
  route({
    method: 'GET',
    path: '/bots/:id/chat/stream',
    scope: 'CHAT',
    input: z.object({ params, headers, query }).transform(({ params, headers, query }) => ({
      variables: chatVariables(params.id, {
        ...query,
        sessionId: query.session_id ?? headers['x-session-id'],
        environment: query.environment ?? headers['x-environment'],
      }),
      stream: true,
    })),
    stream: chatStream,
  }),
  route({
    method: 'POST',
    path: '/bots/:id/chat/stream',
    scope: 'CHAT',
    input: z
      .object({ params, headers, body, query: query.omit({ message: true }) })
      .transform(({ params, headers, body, query }) => ({
        variables: chatVariables(params.id, {
          ...body,
          sessionId: query.session_id ?? headers['x-session-id'],
          environment: body.environment ?? query.environment ?? headers['x-environment'],
        }),
        stream: true,
      })),
    stream: chatStream,
  }),
  route({
    method: 'POST',
    path: '/bots/:id/deploy',
    scope: 'DEPLOY',
    input: z.object({ params, body: deployBody }).transform(({ params, body }) => ({
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
        },
      },
    })),
    json: { operation: deploy, reply: ({ deploy }) => deployReply(deploy) },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/deployments',
    input: z.object({ params, query: listQuery }).transform(({ params, query }) => ({
      variables: {
        botId: params.id,
        first: query.limit,
        after: query.cursor,
        environment: query.environment,
        status: query.status && STATUS[query.status],
      },
    })),
    json: {
      operation: listDeployments,
      reply: ({ bot: { deployments } }) => ({
        deployments: deployments.edges.map(({ node }) => deploymentEntry(node)),
        next_cursor: deployments.pageInfo.hasNextPage ? deployments.pageInfo.endCursor : null,
      }),
    },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/deployments/:deployment_id/rollback',
    scope: 'DEPLOY',
    emptyBody: true,
    input: z
      .object({
        params: deploymentParams,
        body: z
          .object({ message: deployMessage.optional() }, 'the body must be a JSON object')
          .default({}),
      })
      .transform(({ params, body }) => ({
        variables: {
          botId: params.id,
          deploymentId: params.deployment_id,
          message: body.message,
        },
      })),
    json: {
      operation: rollback,
      reply: ({ rollback }) => ({
        ...deployReply(rollback),
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

/** A header's bytes, which Node reads as Latin-1, as the UTF-8 that they mostly are. */
function readUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}

const STATUS = { pending: 'PENDING', deployed: 'DEPLOYED', failed: 'FAILED' } as const;

function chatVariables(
  botId: string,
  { message, sessionId, context, environment }: ChatVariables['input'],
): ChatVariables {
  return { botId, input: { message, sessionId, context, environment } };
}
