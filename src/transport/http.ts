import { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { ERROR_STATUS, GatewayError, toGatewayError } from '../errors.ts';
import { makeId } from '../ids.ts';
import { MAX_BODY_BYTES } from './arriving-bodies.ts';
import { createRefuse, refuseBroken } from './client-error.ts';
import { type OpenAnswers, trackAnswers } from './connection-drain.ts';
import {
  boundConnections,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  type Connections,
  timeoutsFor,
} from './connections.ts';
import { errorBody } from './error-body.ts';
import { logInternal } from './error-mask.ts';
import { assertAdmitted, type Limiter } from './rate-limit.ts';
import { readBodies } from './read-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is answered without a key too; requests count all the same. */
    keyless?: boolean;
  }
}

/** Where WebSockets are served: the only path at which a connection may be upgraded, by GET (RFC 6455, section 4.1). */
export const WEBSOCKET_PATH = '/graphql/ws';

/** The server, its answers under way and its connections. */
export type Http = { app: FastifyInstance; answers: OpenAnswers; connections: Connections };

export type HttpOptions = {
  logger: FastifyServerOptions['logger'];
  /** Addresses of proxies whose `X-Forwarded-For` counts. */
  trustProxy: string[];
  /** The limits that differ from `CONNECTION_LIMITS`. */
  connectionLimits?: Partial<ConnectionLimits>;
};

type Options = HttpOptions & {
  /** Asked for with the first request: it is made of parts that need the server's log. */
  limiter(): Limiter;
};

/**
 * The HTTP server, before anything is served on it: request ids, limits, reading of JSON bodies, and one form
 * for every error, also for those that the server makes by itself.
 */
export function createHttp({ logger, trustProxy, connectionLimits, limiter }: Options): Http {
  const limits = { ...CONNECTION_LIMITS, ...connectionLimits };
  const { http: timeouts, ...serverTimeouts } = timeoutsFor(limits);
  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    // Pages, files and event streams say otherwise.
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    if (!isApi(request)) return undefined;
    const admission = await limiter().admit(request, reply);
    const { authentication, quota } = admission;
    if (quota.allowed && !(authentication instanceof GatewayError)) {
      connections.trust(request.raw.socket);
    }
    return admission;
  };
  const app = Fastify({
    logger,
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: MAX_BODY_BYTES,
    ...serverTimeouts,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    logController: new LogController({ disableRequestLogging: true }),
    // A longer id than any is looked up like any other, and not found.
    routerOptions: { maxParamLength: 16 * 1024 },
    genReqId: ({ headers }) => {
      const own = String(headers['x-request-id'] ?? '');
      return /^[!-~]{1,128}$/.test(own) ? own : makeId('req');
    },
    // An address may name its server too (RFC 9112, section 3.2.2).
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*\/?/i, '/'),
    http: {
      ...timeouts,
      requireHostHeader: false,
      // Any other request to upgrade is answered as if it asked for nothing (RFC 9110, section 7.8).
      shouldUpgradeCallback: ({ method, url }) =>
        method === 'GET' && url?.split('?')[0] === WEBSOCKET_PATH,
    },
    clientErrorHandler: (error, socket) => refuse(error, socket),
    // Fastify waits for no promise here, and one whose rejection nobody sees would stop the process.
    frameworkErrors: (error, request, reply) => {
      const answer = (thrown: unknown) => answerError(thrown, request, reply as FastifyReply);
      void admit(request, reply as FastifyReply)
        .then(() => answer(error), answer)
        .catch(() => reply.raw.destroy());
    },
  });

  // An expectation that nobody knows is none of ours to refuse: 417 is no documented status.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request, socket) => {
    if (socket instanceof Socket) refuse(new Error('This is no proxy.'), socket);
  });
  const answers = trackAnswers(app);
  const connections = boundConnections(app.server, answers, limits, trustProxy);
  const refuse = createRefuse(answers, limiter);
  app.addHook('onRequest', async (request, reply) => {
    const admission = await admit(request, reply);
    if (request.is404) throw nothingAt(request);
    if (admission) assertAdmitted(admission, request.routeOptions.config.keyless);
  });
  readBodies(app, limiter);
  refuseBroken(app);
  app.addHook('onResponse', async (request, reply) => {
    const { method, url, ip } = request;
    request.log.info(
      {
        method,
        path: url.split('?')[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        runId: reply.getHeader('x-run-id'),
        ip,
      },
      'Answered.',
    );
  });
  app.setNotFoundHandler((request) => {
    throw nothingAt(request);
  });
  app.setErrorHandler(answerError);

  return { app, answers, connections };
}

/** Whether a request is one of the REST interface, which has limits also where it has no such route. */
function isApi({ routeOptions, url }: FastifyRequest): boolean {
  return /^\/v1(?![^/?])/.test(routeOptions.url ?? url);
}

function nothingAt({ method, url }: FastifyRequest): GatewayError {
  const [path] = url.split('?');
  return new GatewayError('not_found', `There is nothing at ${method} ${path}.`);
}

/** A signal that is aborted when the client hangs up before it has its whole answer, also if it has already. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** The one mapping of what the HTTP server refuses onto the documented errors. */
export function fromHttp(thrown: unknown): GatewayError {
  const { code, statusCode, message } = thrown as Partial<Error & Record<string, unknown>>;
  if (thrown instanceof SyntaxError) {
    // The parser's own words may quote the body.
    const place = / at position \d+( \(line \d+ column \d+\))?/.exec(thrown.message)?.[0] ?? '';
    return new GatewayError('invalid_json', `The body is not valid JSON${place}.`);
  }
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') {
    return new GatewayError('invalid_json', 'The body is not valid JSON.');
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new GatewayError('request_too_large', 'The body is larger than 1 MiB.');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new GatewayError(
      'invalid_request',
      'Send the body as "Content-Type: application/json".',
    );
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', String(message));
  }
  return toGatewayError(thrown);
}

/** Only 429 answers carry `Retry-After`, also where the limit was exceeded and something else refused the request first. */
export function setRetryAfter({ code, retryAfter }: GatewayError, reply: FastifyReply): void {
  if (code !== 'rate_limit_exceeded') reply.removeHeader('retry-after');
  else if (retryAfter) reply.header('retry-after', retryAfter);
}

function answerError(thrown: unknown, { id, log }: FastifyRequest, reply: FastifyReply): void {
  const error = fromHttp(thrown);
  logInternal(log, error);
  // The next request can be told from a body that was read to its end, however bad it was.
  if (reply.request.raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection');
  setRetryAfter(error, reply);
  reply
    .code(ERROR_STATUS[error.code])
    .type('application/json; charset=utf-8')
    .send(errorBody(error, id));
}
