import type { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { ERROR_STATUS, GatewayError, toGatewayError } from '../errors.ts';
import { makeId } from '../ids.ts';
import { type OpenAnswers, trackAnswers } from './answers.ts';
import { errorBody } from './error-body.ts';
import { logInternal } from './error-mask.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** How long a client may take to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an empty body will do, under any content type. */
    emptyBody?: boolean;
  }
}

/** Where WebSockets are served: the only path at which a connection may be upgraded. */
export const WEBSOCKET_PATH = '/graphql/ws';

/** The server, and what is under way on it. */
export type Http = { app: FastifyInstance; answers: OpenAnswers };

export type HttpOptions = {
  logger: FastifyServerOptions['logger'];
  /** Addresses of proxies whose `X-Forwarded-For` counts. */
  trustProxy: string[];
};

/**
 * The HTTP server, before anything is served on it: request ids, reading of JSON bodies, and one form for
 * every error, also for those that the server makes by itself.
 */
export function createHttp({ logger, trustProxy }: HttpOptions): Http {
  const app = Fastify({
    logger,
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
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
    http: {
      requireHostHeader: false,
      // Any other request to upgrade is answered as if it asked for nothing (RFC 9110, section 7.8).
      shouldUpgradeCallback: ({ url }) => url?.split('?')[0] === WEBSOCKET_PATH,
    },
    clientErrorHandler: (error, socket) => {
      if (answers.isAnswering(socket)) socket.destroy();
      else refuseConnection(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendError(fromHttp(error), request.id, reply as FastifyReply);
    },
  });

  // An expectation that nobody knows is none of ours to refuse: 417 is no documented status.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  const answers = trackAnswers(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (request.is404) throw nothingAt(request);
  });
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
  app.setErrorHandler((thrown, request, reply) => {
    const error = fromHttp(thrown);
    logInternal(request.log, error);
    sendError(error, request.id, reply);
  });

  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (needsNoBody(request, body)) return done(null, undefined);
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body));
      parseJson(request, text, done);
    } catch {
      done(new GatewayError('invalid_json', 'The body is not valid UTF-8.'));
    }
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (needsNoBody(request, body)) return done(null, undefined);
    done(new GatewayError('invalid_request', 'Send the body as "Content-Type: application/json".'));
  });
  return { app, answers };
}

function needsNoBody({ routeOptions }: FastifyRequest, body: string | Buffer): boolean {
  return body.length === 0 && routeOptions.config.emptyBody === true;
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

function sendError(error: GatewayError, requestId: string, reply: FastifyReply): void {
  reply
    .code(ERROR_STATUS[error.code])
    .type('application/json; charset=utf-8')
    .send(errorBody(error, requestId));
}

/** Answers what is no HTTP request at all, such as one with oversized headers, and hangs up. */
function refuseConnection({ code }: Error & { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const reason = {
    HPE_HEADER_OVERFLOW: 'The headers are too large.',
    ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
  }[code ?? ''];
  const requestId = makeId('req');
  const error = new GatewayError('invalid_request', reason ?? 'The request is not valid HTTP.');
  const body = JSON.stringify(errorBody(error, requestId));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  );
}
