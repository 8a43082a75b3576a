import { once } from 'node:events';
import type { Socket } from 'node:net';
import { startDeadline } from '../async/deadline.ts';
import { GatewayError } from '../errors/errors.ts';
import { makeId } from '../text/ids.ts';
import type { Bodies } from './bodies.ts';
import { ended, type OpenResponses } from './connection-drain.ts';
import { errorBody } from './error-body.ts';
import type { Limiter } from './rate-limit.ts';
import { quotaHeaders } from './request-admission.ts';

/** Time for a client to read the error response before its connection is destroyed. */
const LINGER_MS = 1_000;

type Malformed = Error & { code?: string };

/** Responds to malformed HTTP, if the connection is still writable. */
export type Refuse = (error: Malformed, socket: Socket) => void;

/**
 * Sends a documented error for input that the HTTP parser rejects: a malformed request, oversized headers, an incomplete
 * body. Earlier requests on the connection get their responses first. Then the connection closes, because the start of
 * the next request is unknown.
 */
export function createRefuse(responses: OpenResponses, bodies: Bodies, limiter: Limiter): Refuse {
  /**
   * The parser may report several errors on one connection; only the first gets a response. Keyed by the raw socket,
   * because the parser may fail before the connection has its first request.
   */
  const refused = new WeakSet<Socket>();

  return (error, socket) => {
    if (refused.has(socket)) {
      // The client has disconnected, so no client reads the pending responses.
      if (socket.readableEnded && responses.on(socket).some(({ req }) => req.complete)) {
        socket.destroy();
      }
      return;
    }
    refused.add(socket);
    void refuse(error, socket).catch(() => socket.destroy());
  };

  async function refuse(error: Malformed, socket: Socket): Promise<void> {
    const open = responses.on(socket);
    const isInTheMidst = open.some(
      (one) => one.headersSent && !one.writableEnded && !bodies.isAnswered(one.req),
    );
    // Browsers open spare connections; an unused one gets no error response.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (error.code === 'ECONNRESET' || !socket.writable || isInTheMidst || isUnused) {
      socket.destroy();
      return;
    }
    const latest = responses.latest(socket);
    const isOfBody = latest?.complete === false;
    if (isOfBody) bodies.of(latest)?.breakOff(reasonOf(error));
    await Promise.all(open.map(ended));
    // The request with the incomplete body has already received its error response.
    if (isOfBody) socket.end();
    else await answer(reasonOf(error), socket, limiter);
    // Do not wait longer for a client that keeps its side open.
    using deadline = startDeadline(LINGER_MS);
    if (!socket.closed) await once(socket, 'close', { signal: deadline.signal });
  }
}

function reasonOf({ code }: Malformed): GatewayError {
  const reason = {
    HPE_HEADER_OVERFLOW: 'The headers are too large.',
    HPE_CHUNK_EXTENSIONS_OVERFLOW: 'The extensions of a chunk are too large.',
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
