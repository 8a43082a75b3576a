import type { IncomingMessage, Server } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Caller } from '../accounts/caller.ts';
import { networkOf } from '../accounts/client-network.ts';
import type { OpenResponses } from './connection-drain.ts';
import type { SocketReads } from './socket-reads.ts';

/** Limits on the connections of one client. */
export type ConnectionLimits = {
  /** Milliseconds for a request to arrive with its body, and for a new connection to send its first request. */
  requestMs: number;
  /** Milliseconds for a new WebSocket to send `connection_init`. */
  initMs: number;
  /** Milliseconds that a client may read none of the data sent to it. */
  stallMs: number;
  /** Connections of one address that have not authenticated. */
  anonymous: number;
  /** Milliseconds for a new connection to authenticate before it may be evicted. */
  graceMs: number;
  /** Requests on one connection without a complete response. */
  pipelined: number;
};

export const CONNECTION_LIMITS: ConnectionLimits = {
  requestMs: 30_000,
  initMs: 3_000,
  stallMs: 30_000,
  anonymous: 256,
  graceMs: 1_000,
  pipelined: 100,
};

/** The bounded connections of a server. */
export type Connections = {
  /**
   * Marks a connection as authenticated. It no longer counts against its address, but against the caller, if known: its
   * account, or the session of a session token. A visitor of a chat page must not slow the account's own clients.
   */
  trust(socket: Socket, caller?: Caller): void;
};

/**
 * The server options that time out slow requests and stalled clients. Node.js checks requests in intervals, so their
 * timeout is one interval shorter than the limit. It detects a stalled client at the second check, so that timeout is
 * half the limit.
 */
export function timeoutsFor({ requestMs, stallMs }: ConnectionLimits) {
  const connectionsCheckingInterval = Math.ceil(requestMs / 30);
  const requestTimeout = requestMs - connectionsCheckingInterval;
  return {
    requestTimeout,
    connectionTimeout: Math.ceil(stallMs / 2),
    http: { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval },
  };
}

/**
 * Bounds the connections of each client. If an address has too many unauthenticated connections, a new one evicts the
 * oldest: a client with a key can still connect from an address that floods the server.
 *
 * @param proxies addresses and networks of proxies. They carry the requests of many clients, so they are not bounded.
 */
export function boundConnections(
  server: Server,
  { responses, reads }: { responses: Pick<OpenResponses, 'on'>; reads: SocketReads },
  { anonymous, graceMs, pipelined }: ConnectionLimits,
  proxies: string[],
): Connections {
  const isProxy = matcherOf(proxies);
  /** Unauthenticated sockets by network, each with its opening time, oldest first. */
  const unauthenticated = new Map<string, Map<Socket, number>>();
  /** The networks of the open sockets. */
  const networks = new Map<Socket, string>();

  const forget = (socket: Socket) => {
    const network = networks.get(socket);
    const open = network !== undefined && unauthenticated.get(network);
    if (!open) return;
    open.delete(socket);
    if (open.size === 0) unauthenticated.delete(network);
  };

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const now = performance.now();
    const network = networkOf(remoteAddress);
    const open = unauthenticated.get(network) ?? new Map<Socket, number>();
    networks.set(socket, network);
    unauthenticated.set(network, open.set(socket, now));
    reads.assign(socket, network);
    socket.once('close', () => {
      forget(socket);
      networks.delete(socket);
      reads.release(socket);
    });
    for (const [oldest, openedAt] of open) {
      if (open.size <= anonymous || now - openedAt < graceMs) break;
      open.delete(oldest);
      oldest.destroy();
    }
  });

  server.on('request', ({ socket }: IncomingMessage) => {
    if (responses.on(socket).length > pipelined) socket.destroy();
  });

  // Node.js emits `timeout` for every connection without activity.
  server.on('timeout', (socket: Socket) => {
    const isBusy = responses.on(socket).length > 0 && socket.writableLength === 0;
    const isNew = socket.bytesWritten === 0 && !socket.writableEnded;
    // The request timeout covers a new connection.
    if (!isBusy && !isNew) socket.destroy();
  });

  server.on('upgrade', ({ socket }: IncomingMessage) => reads.release(socket));

  return {
    trust(socket, caller) {
      forget(socket);
      if (caller && networks.has(socket)) reads.assign(socket, clientOf(caller));
    },
  };
}

/** The name of a caller's account, or of its one session. */
function clientOf({ account, session }: Caller): string {
  if (!session) return account.id;
  const { botId, environment, sessionId } = session;
  return JSON.stringify([account.id, botId, environment, sessionId]);
}

/** Returns a predicate that matches an address against addresses and networks. */
function matcherOf(entries: string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
