import { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import { makeId } from '../text/ids.ts';
import { redactSecrets } from '../text/secret-redaction.ts';
import { takeBodies } from './bodies.ts';
import { type BodyMemory, MAX_BODY_BYTES } from './body-memory.ts';
import { createRefuse } from './client-error.ts';
import { type OpenResponses, trackResponses } from './connection-drain.ts';
import {
  boundConnections,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  type Connections,
  timeoutsFor,
} from './connections.ts';
import { logInternal } from './error-mask.ts';
import { meantBy } from './mistaken-address.ts';
import { errorAt } from './openai-error.ts';
import type { Limiter } from './rate-limit.ts';
import { readBodies } from './read-body.ts';
import { assertAdmitted, decorateAdmission } from './request-admission.ts';
import { loggedPath, logRequests } from './request-log.ts';
import type { SendText } from './shared-text.ts';
import { createSocketReads } from './socket-reads.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The origin of `PUBLIC_URL`. */
    publicOrigin: string | undefined;
  }
  interface FastifyContextConfig {
    /** Whether the route needs no API key. Its requests still count against the limits. */
    keyless?: boolean;
    /** Whether the path is a secret. The log then has the path of the route. */
    secretPath?: boolean;
  }
}

/** The only path whose GET requests may be upgraded to WebSockets (RFC 6455, section 4.1). */
export const WEBSOCKET_PATH = '/graphql/ws';

/** The server, its open responses and its connections. */
export type Http = { app: FastifyInstance; responses: OpenResponses; connections: Connections };

export type HttpOptions = {
  log: FastifyBaseLogger;
  /** Addresses and networks of the proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: string[];
  /** The server's public base URL. */
  publicUrl?: string | undefined;
  /** Overrides of `CONNECTION_LIMITS`. */
  connectionLimits?: Partial<ConnectionLimits>;
};

/**
 * Creates the HTTP server without routes: request ids, limits, JSON bodies, and one form for every error, including the
 * HTTP server's own errors.
 */
export function createHttp(
  { log, trustProxy, publicUrl, connectionLimits }: HttpOptions,
  {
    limiter,
    bodyMemory,
    sendPage,
  }: {
    limiter: Limiter;
    bodyMemory: BodyMemory;
    /** Answers a browser that asks for a page at an unknown address. */
    sendPage: SendText;
  },
): Http {
  const limits = { ...CONNECTION_LIMITS, ...connectionLimits };
  const { http: timeouts, ...serverTimeouts } = timeoutsFor(limits);
  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    // Pages, files and event streams override `cache-control`.
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    if (!isApi(request)) return undefined;
    const admission = await limiter.admit(request, reply);
    const { authentication, quota } = admission;
    if (quota.allowed && !(authentication instanceof GatewayError)) {
      connections.trust(request.raw.socket, authentication);
    }
    return admission;
  };
  const app = Fastify({
    loggerInstance: log,
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: MAX_BODY_BYTES,
    ...serverTimeouts,
    // Routes whose GET requests begin an operation opt out.
    exposeHeadRoutes: true,
    forceCloseConnections: true,
    return503OnClosing: false,
    logController: new LogController({ disableRequestLogging: true }),
    // An overlong id is looked up and not found, like any other unknown id.
    routerOptions: { maxParamLength: 16 * 1024 },
    genReqId: ({ headers }) => {
      const own = String(headers['x-request-id'] ?? '');
      return /^[!-~]{1,128}$/.test(own) && redactSecrets(own) === own ? own : makeId('req');
    },
    // A request target may be an absolute URL (RFC 9112, section 3.2.2).
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*\/?/i, '/'),
    http: {
      ...timeouts,
      requireHostHeader: false,
      // Any other upgrade request gets a plain HTTP response (RFC 9110, section 7.8).
      shouldUpgradeCallback: ({ method, url }) =>
        method === 'GET' && url?.split('?')[0] === WEBSOCKET_PATH,
    },
    clientErrorHandler: (error, socket) => refuse(error, socket),
    // Fastify does not await a promise here, and an unhandled rejection would crash the process.
    frameworkErrors: (error, request, reply) => {
      const answer = (thrown: unknown) => answerError(thrown, request, reply as FastifyReply);
      void admit(request, reply as FastifyReply)
        .then(() => answer(error), answer)
        .catch(() => reply.raw.destroy());
    },
  });

  app.decorate('publicOrigin', publicUrl && new URL(publicUrl).origin);
  decorateAdmission(app);
  app.server.on('connect', (_request, socket) => {
    if (socket instanceof Socket) refuse(new Error('CONNECT is not supported.'), socket);
  });
  const reads = createSocketReads();
  const bodies = takeBodies(app, { memory: bodyMemory, reads });
  const responses = trackResponses(app);
  const connections = boundConnections(app.server, { responses, reads }, limits, trustProxy);
  const refuse = createRefuse(responses, bodies, limiter);
  app.addHook('onRequest', async (request, reply) => {
    const admission = await admit(request, reply);
    if (request.is404 && !asksForPage(request)) throw nothingAt(request);
    if (admission) assertAdmitted(admission, request.routeOptions.config.keyless);
  });
  readBodies(app, bodies, limiter);
  logRequests(app);
  app.setNotFoundHandler(async (request, reply) => {
    // The routes of files end here too.
    if (!asksForPage(request)) throw nothingAt(request);
    await limiter.admitFile(request);
    return sendPage(request, reply);
  });
  app.setErrorHandler(answerError);

  return { app, responses, connections };
}

/** Whether a request is for the REST interface. Its unknown paths are rate-limited too. */
function isApi({ routeOptions, url }: FastifyRequest): boolean {
  return /^\/v1(?![^/?])/.test(routeOptions.url ?? url);
}

/** Whether a browser asks for a page. */
function asksForPage(request: FastifyRequest): boolean {
  const { method, headers } = request;
  return method === 'GET' && !isApi(request) && !!headers.accept?.includes('text/html');
}

function nothingAt({ method, url }: FastifyRequest): GatewayError {
  const meant = meantBy(url);
  const hint = meant
    ? ` The address is ${meant.address}${meant.isOpenAI ? '; the base URL of a client ends in /v1' : ''}.`
    : '';
  return new GatewayError('not_found', `There is nothing at ${method} ${loggedPath(url)}.${hint}`);
}

/** A signal that is aborted when the client disconnects before the response is complete, or has already done so. */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Maps errors of the HTTP server to the documented errors. */
export function fromHttp(thrown: unknown): GatewayError {
  const { code, statusCode, message } = thrown as Partial<Error & Record<string, unknown>>;
  if (thrown instanceof SyntaxError) {
    // The parser's message may quote the body.
    const place = / at position \d+( \(line \d+ column \d+\))?/.exec(thrown.message)?.[0] ?? '';
    return new GatewayError('invalid_json', `The body is not valid JSON${place}.`);
  }
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') {
    return new GatewayError('invalid_json', 'The body is not valid JSON.');
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

/** Sets the error's `Retry-After`. An exceeded limit has set the header already, and another error may win over it. */
export function setRetryAfter({ code, retryAfter }: GatewayError, reply: FastifyReply): void {
  if (retryAfter) reply.header('retry-after', retryAfter);
  else if (code !== 'rate_limit_exceeded') reply.removeHeader('retry-after');
}

function answerError(thrown: unknown, { id, log, url }: FastifyRequest, reply: FastifyReply): void {
  const error = fromHttp(thrown);
  logInternal(log, error);
  // The request was read completely, so the connection can carry the next one.
  if (reply.request.raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection');
  setRetryAfter(error, reply);
  const { status, body } = errorAt(url, error, id);
  reply.code(status).type('application/json; charset=utf-8').send(body);
}
