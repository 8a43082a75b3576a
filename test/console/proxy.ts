import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a browser and a server that a test can disconnect. */
export type Proxy = {
  url: string;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** @param target default: the same server as before. */
  restore(target?: string): void;
  close(): void;
};

export async function startProxy(server: string): Promise<Proxy> {
  let target = new URL(server);
  const sockets = new Set<Socket>();
  let isCut = false;
  const listener = createServer((socket) => {
    if (isCut) return socket.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
    return undefined;
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cut,
    restore(next = target.href) {
      target = new URL(next);
      isCut = false;
    },
    close() {
      cut();
      listener.close();
    },
  };
}
