import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { inject } from 'vitest';
import { type Database, openPostgres } from '../../src/storage/database.ts';
import { atTheEnd } from './at-the-end.ts';
import { testDatabase } from './database.ts';

/** This worker's PostgreSQL database, behind a loopback proxy that a test can break. */
export type PostgresLink = {
  database: Database;
  /**
   * Lets matching statements run on the server, then closes their connections instead of forwarding the response.
   *
   * @param marks a text that identifies the statement: its name if it is prepared, else a part of its SQL.
   * @param times number of responses to lose; all by default.
   * @returns a function that returns the number of lost responses.
   */
  loseAnswers(marks: string, times?: number): () => number;
  /** Closes all connections, and each new one. @returns a function that returns the number of refused connections. */
  cut(): () => number;
  /** Keeps all connections open but forwards no bytes until `restore`. */
  stall(): void;
  /** The number of connection attempts so far. */
  connectionAttempts(): number;
  /** Ends `loseAnswers`, `cut` and `stall`. */
  restore(): void;
};

/** The start of `ReadyForQuery`, the server's last message for a statement. The transaction status follows. */
const READY = Buffer.from('Z\0\0\0\u0005', 'latin1');

/** Opens this worker's database through the proxy, until the end of the test or its file. */
export async function linkPostgres(
  options?: Parameters<typeof openPostgres>[1],
): Promise<PostgresLink> {
  const { prisma } = await testDatabase();
  const [{ name = '' } = {}] = await prisma.$queryRaw<{ name: string }[]>`
    SELECT current_database() AS name`;
  const target = new URL(inject('databaseUrl'));
  const nearSockets = new Set<Socket>();
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  let refused = 0;
  let isStalled = false;
  let connectionAttempts = 0;
  let losing: { marks: string; left: number; lost: number } | undefined;

  const server = createServer((near) => {
    connectionAttempts += 1;
    near.on('error', () => {});
    if (isCut) {
      refused += 1;
      near.destroy();
      return;
    }
    nearSockets.add(near);
    const far = connect(Number(target.port || 5432), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    /** Set while the response to a marked statement is pending. */
    let loses: typeof losing;
    near.on('data', (sent) => {
      if (losing && losing.left > 0 && sent.includes(losing.marks)) {
        loses = losing;
        losing.left -= 1;
      }
      far.write(sent);
    });
    far.on('data', (answer) => {
      if (!loses) return near.write(answer);
      if (answer.subarray(-READY.length - 1, -1).equals(READY)) {
        loses.lost += 1;
        near.destroy();
      }
    });
    if (isStalled) for (const socket of pair) socket.pause();
    far.on('error', () => near.destroy());
    near.on('close', () => {
      far.destroy();
      nearSockets.delete(near);
      pairs.delete(pair);
    });
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hostname = '127.0.0.1';
  const url = Object.assign(new URL(target), {
    hostname,
    port: String(port),
    pathname: `/${name}`,
  });
  const database = await openPostgres(url.href, options);

  const restore = () => {
    losing = undefined;
    isCut = false;
    isStalled = false;
    for (const socket of [...pairs].flat()) socket.resume();
  };
  atTheEnd(async () => {
    restore();
    await database.close();
    for (const socket of nearSockets) socket.destroy();
    server.close();
  });
  return {
    database,
    restore,
    connectionAttempts: () => connectionAttempts,
    loseAnswers(marks, times = Number.POSITIVE_INFINITY) {
      const loss = { marks, left: times, lost: 0 };
      losing = loss;
      return () => loss.lost;
    },
    cut() {
      isCut = true;
      refused = 0;
      for (const socket of nearSockets) socket.destroy();
      return () => refused;
    },
    stall() {
      isStalled = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
  };
}
