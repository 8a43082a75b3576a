import { IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type ArrivingBody, createArrivingBody } from './arriving-body.ts';
import type { BodyMemory } from './body-memory.ts';
import type { SocketReads } from './socket-reads.ts';

/** The bodies of a server's requests. */
export type Bodies = {
  /** The body of a request; `undefined` if it has none. */
  of(request: IncomingMessage): ArrivingBody | undefined;
  /** Whether the response to a request only waits for the end of the body. */
  isAnswered(request: IncomingMessage): boolean;
};

const BODY = Symbol('body');
const IS_ANSWERED = Symbol('answered');
type TakenRequest = IncomingMessage & { [BODY]?: ArrivingBody; [IS_ANSWERED]?: boolean };

type Dependencies = { memory: BodyMemory; reads: SocketReads };

/**
 * Takes the bodies of a server's requests as soon as their headers have arrived. A body that no route reads is dropped. If
 * a response is sent before the body of its request has arrived, it ends after that body: a connection that closes
 * before its client has sent everything loses the response.
 */
export function takeBodies(app: FastifyInstance, { memory, reads }: Dependencies): Bodies {
  const { server } = app;
  const take = (request: TakenRequest, response: ServerResponse, proceed?: () => void) => {
    if (request[BODY] || !hasBody(request)) return;
    const isInjected = !(request instanceof IncomingMessage);
    const control = isInjected ? UNCONTROLLED : reads;
    const body = createArrivingBody({ request, response, memory, reads: control, proceed });
    request[BODY] = body;
    if (isInjected) readInjected(request, body);
    else divert(request, body);
    request.once('close', body.disconnect);
    response.once('close', body.drop);
    // No route of these methods reads a body.
    if (request.method === 'GET' || request.method === 'HEAD') body.drop();
  };

  // All headers count, so that `hasBody` knows what the parser knows. Their bytes are limited.
  server.maxHeadersCount = 0;
  server.prependListener('request', take);
  // A client that waits for "100 Continue" gets it when its body is read.
  server.on('checkContinue', (request, response) => {
    take(request, response, () => response.writeContinue());
    server.emit('request', request, response);
  });
  // Ignore unknown expectations: 417 is not a documented status.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  app.addHook('onRequest', ({ raw }, reply, done) => {
    // The server emits no event for a request of `inject`.
    if (!(raw instanceof IncomingMessage)) take(raw, reply.raw);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const raw: TakenRequest = request.raw;
    const body = raw[BODY];
    const isPlain = typeof payload === 'string' && request.method !== 'HEAD';
    if (!isPlain || !body?.isArriving()) return done(null, payload);
    raw[IS_ANSWERED] = true;
    reply.header('content-length', Buffer.byteLength(payload));
    done(null, Readable.from(endAfter(payload, body)));
  });
  return {
    of: (request: TakenRequest) => request[BODY],
    isAnswered: (request: TakenRequest) => request[IS_ANSWERED] ?? false,
  };
}

/** Gives a request's pieces to its body in place of its stream, which would keep a buffer for each piece. */
function divert(request: IncomingMessage, { receive, end }: ArrivingBody): void {
  // From now on the stream waits for pieces, so it does not resume its socket again.
  request.read(0);
  const push = request.push.bind(request);
  request.push = (piece: Buffer | null) => {
    if (piece !== null) {
      receive(piece);
      return true;
    }
    end();
    const isPushed = push(null);
    request.resume();
    return isPushed;
  };
}

function readInjected(request: Readable, { receive, end }: ArrivingBody): void {
  request.on('data', (piece: Buffer | string) => receive(Buffer.from(piece))).once('end', end);
}

const UNCONTROLLED = { pause() {}, resume() {}, slow() {} };

async function* endAfter(text: string, body: ArrivingBody) {
  yield text;
  await body.drain();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) !== 0;
}
