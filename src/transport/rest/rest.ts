import type { FastifyInstance } from 'fastify';
import { ERROR_STATUS, GatewayError } from '../../errors.ts';
import type { Context } from '../../schema/context.ts';
import type { Authenticate } from '../authenticate.ts';
import type { OpenAnswers } from '../connection-drain.ts';
import type { ContextOf } from '../context-of.ts';
import type { Engine } from '../engine.ts';
import { errorBody } from '../error-body.ts';
import { takeOver } from '../hijack.ts';
import { type AcquireStream, beginReading } from '../reading.ts';
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
  answers: Pick<OpenAnswers, 'endsWith'>;
  acquireStream: AcquireStream;
};

/**
 * Serves the routes under `/v1`. The checks run in the documented order: route, key, bot, access. The body is read
 * only after them.
 */
export async function serveRest(
  app: FastifyInstance,
  { engine, contextOf, authenticate, answers, acquireStream }: Options,
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
          return reply.code(ERROR_STATUS[refusal.code]).send(Object.assign({}, body, error));
        }
        const isHead = request.method === 'HEAD';
        const { stream, lastEventId, isOver } = call;
        if (isHead || lastEventId !== undefined) {
          if (await isOver?.(engine, context)) return reply.code(204).send();
        }
        if (isHead) {
          takeOver(reply).end();
          return reply;
        }
        const release = acquireStream(context.caller());
        const reading = beginReading(context);
        const { signal } = reading;
        answers.endsWith(reply.raw, reading);
        const start = () => call.subscribe(engine, { ...context, signal });
        await streamEvents(reply, stream, start, signal, { lastEventId }).finally(() => {
          reading.end();
          release();
        });
        return reply;
      },
    });
  }
}
