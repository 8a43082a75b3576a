import type { FastifyInstance } from 'fastify';
import { ERRORS, GatewayError } from '../../errors/errors.ts';
import type { Context } from '../../schema/context.ts';
import type { Authenticate } from '../authenticate.ts';
import type { OpenResponses } from '../connection-drain.ts';
import type { ContextOf } from '../context-of.ts';
import type { Engine } from '../engine.ts';
import { errorBody } from '../error-body.ts';
import { hijack, sendNoContent } from '../hijack.ts';
import { type AcquireStream, beginStreamRead } from '../reading.ts';
import { routes } from './routes.ts';
import { streamEvents } from './sse.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The context of a request for `/v1` that was authorized; `null` before. */
    authorizedContext: Context | null;
  }
}

type Options = {
  engine: Engine;
  contextOf: ContextOf;
  authenticate: Authenticate;
  responses: Pick<OpenResponses, 'endsWith'>;
  acquireStream: AcquireStream;
};

/**
 * Serves the routes under `/v1`. The checks run in the documented order: route, key, bot, access. The body is read
 * only after them.
 */
export async function serveRest(
  app: FastifyInstance,
  { engine, contextOf, authenticate, responses, acquireStream }: Options,
) {
  app.decorateRequest('authorizedContext', null);
  for (const route of routes) {
    route.prepare(engine);
    app.route<{ Params: { id: string } }>({
      method: route.method,
      url: route.path,
      // A HEAD request must not begin a run.
      exposeHeadRoute: route.streams !== 'reply',
      config: { emptyBody: route.emptyBody, textBody: route.textBody },
      onRequest: async (request, reply) => {
        const context = await contextOf(request, reply);
        await context.authorizeBot(request.params.id, route.scope);
        request.authorizedContext = context;
      },
      handler: async (request, reply) => {
        const { authorizedContext: context } = request;
        if (context === null) throw new Error('The request was not authorized.');
        const { params, query, headers, body, ip } = request;
        // The key may have been revoked while the body arrived. For a fast body, this reads the cached key.
        const authentication = await authenticate(headers.authorization, ip);
        if (authentication instanceof GatewayError) throw authentication;
        const call = route.read({ params, query, headers, body });
        if (!call.stream) {
          const { body, refusal } = await call.execute(engine, context);
          if (!refusal) return reply.code(call.status).send(body);
          const error = errorBody(refusal, request.id);
          return reply.code(ERRORS[refusal.code].status).send(Object.assign({}, body, error));
        }
        const isHead = request.method === 'HEAD';
        const { stream, lastEventId, isOver } = call;
        if (isHead || lastEventId !== undefined) {
          if (await isOver?.(engine, context)) return sendNoContent(reply);
        }
        if (isHead) {
          hijack(reply).end();
          return reply;
        }
        const release = acquireStream(context.caller());
        const streamRead = beginStreamRead(context);
        const { signal } = streamRead;
        responses.endsWith(reply.raw, streamRead);
        const start = () => call.subscribe(engine, { ...context, signal });
        await streamEvents(reply, stream, start, signal, { lastEventId }).finally(() => {
          streamRead.end();
          release();
        });
        return reply;
      },
    });
  }
}
