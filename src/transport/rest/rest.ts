import type { FastifyInstance } from 'fastify';
import { authorizeScope } from '../../accounts/caller.ts';
import { ERRORS, GatewayError } from '../../errors/errors.ts';
import type { Context } from '../../schema/context.ts';
import type { Authenticate } from '../authenticate.ts';
import type { OpenResponses } from '../connection-drain.ts';
import type { ContextOf } from '../context-of.ts';
import type { Engine } from '../engine.ts';
import { errorBody } from '../error-body.ts';
import { hijack, sendNoContent } from '../hijack.ts';
import type { Limiter } from '../rate-limit.ts';
import { type AcquireStream, beginStreamRead } from '../reading.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The context of a request for `/v1` that was authorized; `null` before. */
    authorizedContext: Context | null;
  }
}

type Options = {
  routes: readonly Route[];
  engine: Engine;
  contextOf: ContextOf;
  authenticate: Authenticate;
  responses: Pick<OpenResponses, 'endsWith'>;
  acquireStream: AcquireStream;
  limiter: Pick<Limiter, 'readBotVersion'>;
};

/**
 * Serves a table of routes. The checks run in the documented order: route, key, bot, access. The body is read
 * only after them.
 */
export async function serveRest(
  app: FastifyInstance,
  { routes, engine, contextOf, authenticate, responses, acquireStream, limiter }: Options,
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
        if (route.isOfBot) await context.authorizeBot(request.params.id, route.scope);
        else if (route.scope) authorizeScope(context.caller(), route.scope);
        request.authorizedContext = context;
      },
      handler: async (request, reply) => {
        const { authorizedContext } = request;
        if (authorizedContext === null) throw new Error('The request was not authorized.');
        const { params, query, headers, body, ip } = request;
        // The key may have been revoked while the body arrived. For a fast body, this reads the cached key.
        const authentication = await authenticate(headers.authorization, ip);
        if (authentication instanceof GatewayError) throw authentication;
        const call = route.read({ params, query, headers, body });
        let context = authorizedContext;
        if (call.botId !== undefined) {
          await limiter.readBotVersion(request, call.botId);
          context = await contextOf(request, reply, context.signal);
        }
        if (!call.stream) {
          const { body, refusal, isPending } = await call.execute(engine, context);
          if (!refusal) return reply.code(isPending ? 202 : call.status).send(body);
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
        await stream(reply, engine, context, signal).finally(() => {
          streamRead.end();
          release();
        });
        return reply;
      },
    });
  }
}
