import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { atTheEnd } from '../helpers/at-the-end.ts';

/** The behaviour of the proxy for one request. */
export type Fault = {
  /** Answers with this status in place of the server. */
  status?: 429 | 500 | 502 | 503 | 504;
  /** Whether the server gets the request although its answer is lost. The proxy forwards all other requests. */
  isForwarded?: boolean;
  /** Cuts the connection after this many bytes of the body; 0: before the headers. */
  cutAfter?: number;
  /** Sends the body in pieces of this many bytes, each in an event loop turn of its own. */
  pieces?: number;
  /** Sends each header twice. */
  isDoubled?: boolean;
};

export type UnreliableProxy = {
  url: string;
  /** The requests that the proxy received, as `METHOD /path`. */
  requests: string[];
  /** The number of times that the proxy cut a connection or answered by itself. */
  faults(): number;
};

/** Headers that would make the response invalid when they are sent twice. */
const SINGLE = ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'date'];

/** Starts a proxy on loopback that asks for the fault of each request. It ends with the test. */
export async function startUnreliableProxy(
  target: string,
  faultOf: (incoming: IncomingMessage) => Fault,
): Promise<UnreliableProxy> {
  const requests: string[] = [];
  let faults = 0;

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const body = await buffer(incoming);
    const { status, isForwarded = false, cutAfter, pieces, isDoubled } = faultOf(incoming);
    const isLost = status !== undefined || cutAfter === 0;
    if (isLost) faults += 1;
    if (isLost && !isForwarded) return answer(outgoing, status);

    const { url = '', method, headers } = incoming;
    const forwarded = request(new URL(url, target), { method, headers });
    outgoing.once('close', () => forwarded.destroy());
    const received = once(forwarded, 'response') as Promise<[IncomingMessage]>;
    forwarded.end(body);
    const [response] = await received;
    if (isLost) {
      response.destroy();
      return answer(outgoing, status);
    }

    outgoing.writeHead(
      response.statusCode ?? 500,
      Object.entries(response.headers).flatMap(([name, value = '']) =>
        isDoubled && !SINGLE.includes(name) ? [name, value, name, value] : [name, value],
      ) as string[],
    );
    let left = cutAfter ?? Number.POSITIVE_INFINITY;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const size = pieces ?? chunk.length;
      for (let start = 0; start < chunk.length; start += size) {
        const piece = chunk.subarray(start, Math.min(start + size, start + left));
        outgoing.write(piece);
        left -= piece.length;
        if (left <= 0) {
          faults += 1;
          // `end` on the socket sends the buffered data, in contrast to `destroy`.
          outgoing.socket?.end();
          return;
        }
        if (pieces) await setImmediate();
      }
    }
    outgoing.end();
  };

  const server = createServer((incoming, outgoing) => {
    // A client that leaves breaks both connections.
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTheEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, faults: () => faults };
}

/** Answers in place of the server, or cuts the connection. */
function answer(outgoing: ServerResponse, status: Fault['status']): void {
  if (status === undefined) return void outgoing.destroy();
  const code = status === 429 ? 'rate_limit_exceeded' : 'internal_error';
  outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
  outgoing.end(status > 500 ? '<h1>Bad gateway</h1>' : JSON.stringify({ error: { code } }));
}
