import type { IncomingMessage, Server } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkOf } from '../accounts/limits.ts';
import type { OpenAnswers } from './connection-drain.ts';

/** What one client may hold of the server. */
export type ConnectionLimits = {
  /** Milliseconds in which a request has to arrive with its body, and a new connection has to send its first request. */
  requestMs: number;
  /** Milliseconds that a client may take nothing of what waits for it. */
  stallMs: number;
  /** Connections of one address that have shown no valid key. */
  anonymous: number;
  /** Milliseconds that a connection has to show a key before it may have to make room. */
  graceMs: number;
  /** Requests on one connection that wait for their answers. */
  pipelined: number;
};

export const CONNECTION_LIMITS: ConnectionLimits = {
  requestMs: 30_000,
  stallMs: 30_000,
  anonymous: 256,
  graceMs: 1_000,
  pipelined: 100,
};

/** The connections of a server. */
export type Connections = {
  /** Notes that a client has shown a valid key: its connection does not count against its address any more. */
  trust(socket: Socket): void;
};

/**
 * The server options that end requests which do not arrive. Node.js looks for them in intervals, so that the limits hold
 * with an interval taken off. It notices only at the second look that a client has stopped taking what waits for it.
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
 * Bounds what the clients of a server hold. Where an address has too many connections without a key, a new one
 * replaces the oldest: a client with a key still connects from an address that floods the server.
 *
 * @param proxies addresses and networks whose connections carry the requests of many clients; they have no bound here.
 */
export function boundConnections(
  server: Server,
  answers: Pick<OpenAnswers, 'on'>,
  { anonymous, graceMs, pipelined }: ConnectionLimits,
  proxies: string[],
): Connections {
  const isProxy = matcherOf(proxies);
  /** Without a key, by their networks: when each was opened, the oldest first. */
  const strangers = new Map<string, Map<Socket, number>>();
  const networks = new WeakMap<Socket, string>();

  const forget = (socket: Socket) => {
    const network = networks.get(socket);
    const open = network !== undefined && strangers.get(network);
    if (!open) return;
    open.delete(socket);
    if (open.size === 0) strangers.delete(network);
  };

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const now = performance.now();
    const network = networkOf(remoteAddress);
    const open = strangers.get(network) ?? new Map<Socket, number>();
    networks.set(socket, network);
    strangers.set(network, open.set(socket, now));
    socket.once('close', () => forget(socket));
    for (const [oldest, openedAt] of open) {
      if (open.size <= anonymous || now - openedAt < graceMs) break;
      open.delete(oldest);
      oldest.destroy();
    }
  });

  server.on('request', ({ socket }: IncomingMessage) => {
    if (answers.on(socket).length > pipelined) socket.destroy();
  });

  // Node.js tells of every connection on which nothing has happened for a while.
  server.on('timeout', (socket: Socket) => {
    const isAtWork = answers.on(socket).length > 0 && socket.writableLength === 0;
    const isNew = socket.bytesWritten === 0 && !socket.writableEnded;
    // A new one has until its first request is late.
    if (!isAtWork && !isNew) socket.destroy();
  });

  return { trust: forget };
}

/** Tells whether an address is in a list of addresses and networks. */
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
