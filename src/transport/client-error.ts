import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { GatewayError } from '../errors.ts';
import { makeId } from '../ids.ts';
import { ended, type OpenAnswers } from './connection-drain.ts';
import { errorBody } from './error-body.ts';
import { type Limiter, quotaHeaders } from './rate-limit.ts';

/** How long a client has to read why it was refused, before its connection is cut. */
const LINGER_MS = 1_000;

type Malformed = Error & { code?: string };

/** Answers what is no HTTP, as far as there is anybody to answer. */
export type Refuse = (error: Malformed, socket: Socket) => void;

/**
 * Has a server answer, in the documented form, to what its parser refuses: a request that is none, one with headers
 * that are too large, a body that breaks off. Whole requests before it on the connection get their answers first,
 * and then it is closed, for nobody knows where the next request begins.
 */
export function createRefuse(answers: OpenAnswers, limiter: () => Limiter): Refuse {
  /** What is no HTTP is said once of a connection, and may be found many times. */
  const refused = new WeakSet<Socket>();

  return (error, socket) => {
    if (refused.has(socket)) {
      // Its client has gone, and with it whoever waited for what is at work.
      if (socket.readableEnded && answers.on(socket).some(({ req }) => req.complete)) {
        socket.destroy();
      }
      return;
    }
    refused.add(socket);
    void refuse(error, socket).catch(() => socket.destroy());
  };

  async function refuse(error: Malformed, socket: Socket): Promise<void> {
    const open = answers.on(socket);
    const isInTheMidst = open.some((one) => one.headersSent && !one.writableEnded);
    // Browsers open connections in advance.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (error.code === 'ECONNRESET' || !socket.writable || isInTheMidst || isUnused) {
      socket.destroy();
      return;
    }
    const latest = answers.latest(socket);
    const isOfBody = latest?.complete === false;
    if (isOfBody) breakOff(latest, reasonOf(error));
    await Promise.all(open.map(ended));
    // A request whose body broke off has its answer among them, or had it before.
    if (isOfBody) socket.end();
    else await answer(reasonOf(error), socket, limiter());
    // A client that does not hang up holds the connection no longer for that.
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
  }
}

const broken = new WeakMap<IncomingMessage, GatewayError>();

/** Lets whoever reads a request's body know that there will be no more of it. */
function breakOff(request: IncomingMessage, reason: GatewayError): void {
  broken.set(request, reason);
  request.once('error', () => {});
  request.emit('error', reason);
}

/** Refuses the requests of which it is known, before anybody waits for their body, that it has broken off. */
export function refuseBroken(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ raw }) => {
    const reason = broken.get(raw);
    if (reason) throw reason;
  });
}

function reasonOf({ code }: Malformed): GatewayError {
  const reason = {
    HPE_HEADER_OVERFLOW: 'The headers are too large.',
    ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
  }[code ?? ''];
  return new GatewayError('invalid_request', reason ?? 'The request is not valid HTTP.');
}

async function answer(error: GatewayError, socket: Socket, limiter: Limiter): Promise<void> {
  const requestId = makeId('req');
  const body = JSON.stringify(errorBody(error, requestId));
  const quota = await limiter.take(error, socket.remoteAddress, 1);
  const headers = Object.entries(quotaHeaders({ ...quota, allowed: true }));
  if (!socket.writable) return;
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Cache-Control: no-store',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  );
}
