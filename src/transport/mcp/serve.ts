import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { authorizeScope } from '../../accounts/caller.ts';
import { lazy } from '../../async/lazy.ts';
import { ERRORS, GatewayError, invalidInput, problemsOf } from '../../errors/errors.ts';
import { Chat, ListTools, ReadRun, ToolProgress } from '../../generated/operations/rest.ts';
import type { Context } from '../../schema/context.ts';
import { botId, MAX_BOTS_OF_KEY } from '../../text/input.ts';
import { isJsonObject } from '../../text/json.ts';
import type { Authenticate } from '../authenticate.ts';
import type { OpenResponses } from '../connection-drain.ts';
import type { Connections } from '../connections.ts';
import type { ContextOf } from '../context-of.ts';
import type { Engine } from '../engine.ts';
import { errorBody } from '../error-body.ts';
import { logInternal } from '../error-mask.ts';
import type { Origins } from '../graphql/origins.ts';
import { clientSignal, fromHttp, setRetryAfter } from '../http.ts';
import type { Limiter } from '../rate-limit.ts';
import { type AcquireStream, beginStreamRead } from '../reading.ts';
import { assertAdmitted } from '../request-admission.ts';
import { createOpenCalls } from './open-calls.ts';
import { sendResponse } from './send.ts';

type Options = {
  engine: Engine;
  contextOf: ContextOf;
  authenticate: Authenticate;
  limiter: Limiter;
  connections: Pick<Connections, 'trust'>;
  responses: Pick<OpenResponses, 'endsWith'>;
  acquireStream: AcquireStream;
  origins: Origins;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The context of an admitted request for `/mcp`; `null` before. */
    mcpContext: Context | null;
  }
}

const query = z.strictObject(
  {
    bots: z
      .string('must be a list, such as a,b')
      .transform((list) => list.split(','))
      .pipe(
        z.array(z.string()).max(MAX_BOTS_OF_KEY, `must not have more than ${MAX_BOTS_OF_KEY} bots`),
      )
      .pipe(z.array(botId))
      .optional(),
  },
  { error: ({ keys }) => `unknown ${keys}; the parameters are bots` },
);

/** The request headers of MCP clients in browsers, and the response headers that they read. */
const HEADERS = {
  allowed: ['Mcp-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name', 'Last-Event-ID'],
  exposed: ['Mcp-Session-Id', 'WWW-Authenticate'],
};

/**
 * Serves bots as tools of MCP clients, at the prefix `/mcp`. Each request has one message and counts 1. The checks run in
 * this order: limit, key, origin, scope. The body is read only after them.
 */
export async function serveMcp(app: FastifyInstance, options: Options) {
  const { engine, contextOf, authenticate, limiter, connections, origins } = options;
  for (const operation of [ListTools, Chat, ToolProgress, ReadRun]) engine.prepare(operation);
  /** The library is loaded for the first request. */
  const server = lazy(async () => (await import('./server.ts')).createMcpServer());
  const calls = createOpenCalls();
  app.decorateRequest('mcpContext', null);
  await origins.openTo(app, HEADERS);
  app.setErrorHandler(refuse);
  app.route({
    url: '',
    method: ['GET', 'POST', 'DELETE'],
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      const admission = await limiter.admit(request, reply);
      assertAdmitted(admission);
      if (!(admission.authentication instanceof GatewayError))
        connections.trust(request.raw.socket, admission.authentication);
      origins.assertNotRebound(request);
      const context = await contextOf(request, reply);
      authorizeScope(context.caller(), 'CHAT');
      request.mcpContext = context;
    },
    handler: async (request, reply) => {
      const { mcpContext: context, headers, ip, body } = request;
      if (context === null) throw new Error('The request was not admitted.');
      // The key may have been revoked while the body arrived.
      const authentication = await authenticate(headers.authorization, ip);
      if (authentication instanceof GatewayError) throw authentication;
      const { data, error } = query.safeParse(request.query);
      if (error) throw invalidInput(problemsOf(error));
      const message = readMessage(body);
      const name = { keyId: authentication.key.id, sessionId: headers['mcp-session-id'] };
      if (message?.method === 'notifications/cancelled')
        calls.cancel({ ...name, requestId: message.params?.requestId });

      const isCall = message?.method === 'tools/call';
      const release = isCall ? options.acquireStream(authentication) : () => {};
      const call = isCall ? calls.begin({ ...name, requestId: message.id }) : undefined;
      const read = beginStreamRead(context);
      options.responses.endsWith(reply.raw, read);
      const signal = call ? AbortSignal.any([read.signal, call.signal]) : read.signal;
      const exchange = {
        engine,
        context: { ...context, signal },
        bots: data.bots,
        response: reply.raw,
        log: request.log,
      };
      try {
        const gone = clientSignal(reply);
        const answer = await server();
        const response = await answer(toWeb(request, gone), exchange, body);
        if (message?.method === 'initialize') reply.header('mcp-session-id', randomUUID());
        return await sendResponse(reply, response, gone);
      } finally {
        read.end();
        call?.end();
        release();
      }
    },
  });
}

/** The parts of a message that this file reads. The library validates the whole message. */
const envelope = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.object({ requestId: z.unknown() }).optional().catch(undefined),
});

/**
 * Reads the envelope of a message.
 *
 * @returns undefined for a response, or for a request without a body.
 * @throws GatewayError `invalid_request` for a batch, which would count as one request, and for a stream of changes.
 */
function readMessage(body: unknown): z.output<typeof envelope> | undefined {
  if (Array.isArray(body))
    throw new GatewayError(
      'invalid_request',
      'Send one message a request. Batches are not supported.',
    );
  const { data } = envelope.safeParse(body);
  if (data?.method === 'subscriptions/listen')
    throw new GatewayError(
      'invalid_request',
      'This server reports no changes: subscriptions/listen is not supported.',
    );
  return data;
}

/** The library reads the method, the headers and the signal. The body is parsed already. */
function toWeb({ method, headers: received }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    if (name !== 'authorization' && value !== undefined) headers.set(name, String(value));
  return new Request('http://localhost/mcp', { method, headers, signal });
}

/** Characters of the id of a message that an error repeats. */
const MAX_ID = 256;

/** The codes of JSON-RPC for errors of the HTTP request. Source: JSON-RPC 2.0, section 5.1. */
const RPC_CODES: Partial<Record<string, number>> = {
  invalid_json: -32700,
  invalid_request: -32600,
  request_too_large: -32600,
  internal_error: -32603,
};

/** The id of a message. Null if it has none, or one that JSON-RPC does not allow: the error repeats nothing long or nested. */
function idOf(body: unknown): string | number | null {
  const id = isJsonObject(body) ? body.id : null;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= MAX_ID) ? id : null;
}

/** Sends an error of the HTTP request in the form of JSON-RPC, with the members of the REST interface in `data`. */
function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = fromHttp(thrown);
  logInternal(request.log, error);
  setRetryAfter(error, reply);
  const { status } = ERRORS[error.code];
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const id = idOf(request.body);
  const { message, ...data } = errorBody(error, request.id).error;
  const code = RPC_CODES[error.code] ?? -32000;
  return reply.code(status).send({ jsonrpc: '2.0', id, error: { code, message, data } });
}
