import { z } from 'zod';
import { chatMessage, expected, sessionId } from '../input.ts';
import { jsonObject } from '../json.ts';
import { type ChatVariables, chat, chatStream } from '../operations/chat.ts';
import { route } from './route.ts';

const environment = z
  .enum(['production', 'staging'], 'must be "production" or "staging"')
  .transform((name) => (name === 'production' ? ('PRODUCTION' as const) : ('STAGING' as const)))
  .optional();

const params = z.object({ id: z.string() });

const headers = z.object({
  'x-session-id': sessionId.optional(),
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

const query = z.object({ session_id: sessionId.optional(), message: chatMessage, environment });

/** The `text/event-stream` of an `Accept` header, unless it is ruled out by a weight of 0. */
const EVENT_STREAM = /(^|,)\s*text\/event-stream\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))(;|,|$)/i;

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
      stream: body.stream && EVENT_STREAM.test(headers.accept),
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
];

function chatVariables(
  botId: string,
  { message, sessionId, context, environment }: ChatVariables['input'],
): ChatVariables {
  return { botId, input: { message, sessionId, context, environment } };
}
