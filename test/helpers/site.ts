import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request that the site received. */
export type SiteRequest = {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
};

export type SiteHandler = (request: SiteRequest, response: ServerResponse) => void;

/** A scripted web server on 127.0.0.1. */
export type Site = {
  /** `127.0.0.1:port` */
  host: string;
  port: number;
  origin: string;
  requests: SiteRequest[];
  /** The number of connections so far. */
  connections(): number;
  /** Sets the handler of all later requests. The default responds with "Hello there." */
  handle(handler: SiteHandler): void;
  /** Resolves when the next connection closes. */
  hangUp(): Promise<unknown>;
  close(): Promise<void>;
};

export async function startSite(): Promise<Site> {
  let current: SiteHandler = (_request, response) => response.end('Hello there.');
  let connections = 0;
  const requests: SiteRequest[] = [];
  const events = new EventEmitter();
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const body = await text(incoming).catch(() => undefined);
    // The caller has disconnected.
    if (body === undefined) return;
    const request = { method, url, headers, body };
    requests.push(request);
    current(request, response);
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => events.emit('hang-up'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    host: `127.0.0.1:${port}`,
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    handle: (handler) => {
      current = handler;
    },
    hangUp: () => once(events, 'hang-up'),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
