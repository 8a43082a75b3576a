import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The server's sockets of the connections that it accepts from now on, until the test ends. */
export function watchConnections({ url }: { url: string }): Socket[] {
  const accepted: Socket[] = [];
  const { port } = new URL(url);
  const add = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (String(socket.localPort) === port) accepted.push(socket);
  };
  subscribe('net.server.socket', add);
  onTestFinished(() => void unsubscribe('net.server.socket', add));
  return accepted;
}
