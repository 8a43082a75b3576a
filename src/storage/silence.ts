import { Socket } from 'node:net';
import pg from 'pg';
import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';

/** Detects a server that stopped responding. */
export type SilenceWatch = {
  /** Opens a watched socket, for node-postgres. */
  stream(): Socket;
  /**
   * Watches until it is disposed of.
   *
   * @param pools a connection in use means that a response is pending.
   */
  start(pools: pg.Pool[]): AsyncDisposable;
};

const CHECK_EVERY_MS = 1_000;
/** How many checks without a received byte precede a probe. */
const SILENT_CHECKS = 3;
const PROBE_LIMIT_MS = 2_000;

/**
 * Closes all connections to a silent server, so that requests do not wait for the statement timeout, which is for slow
 * statements. A server is silent if it sends no byte on any connection for 3 seconds while a response is pending, and
 * then accepts no new connection within 2 seconds.
 *
 * @param config the configuration of the probe's connection.
 */
export function createSilenceWatch(
  config: pg.ClientConfig,
  checkEveryMs = CHECK_EVERY_MS,
): SilenceWatch {
  const sockets = new Set<Socket>();
  let received = 0;
  /** Counts checks, not time: while the event loop is blocked, no byte can be read. */
  let silentChecks = 0;
  let task: PeriodicTask | undefined;
  let isWatching = false;

  const countReceived = () => sockets.values().reduce((sum, { bytesRead }) => sum + bytesRead, 0);

  /** Begins the checks if a response was not pending before. */
  const resume = () => {
    if (!task || isWatching) return;
    isWatching = true;
    silentChecks = 0;
    received = countReceived();
    task.resume();
  };

  const isAlive = async () => {
    const probe = new pg.Client({ ...config, connectionTimeoutMillis: PROBE_LIMIT_MS });
    probe.on('error', () => {});
    try {
      await probe.connect();
      return true;
    } catch (error) {
      // An error from the server is a response.
      return error instanceof pg.DatabaseError;
    } finally {
      probe.end().catch(() => {});
    }
  };

  const cutIfSilent = async () => {
    if (await isAlive()) return;
    const silence = Object.assign(new Error('The database did not respond.'), {
      code: 'ETIMEDOUT',
    });
    for (const socket of sockets) socket.destroy(silence);
  };

  const check = async () => {
    const sum = countReceived();
    silentChecks = sum === received ? silentChecks + 1 : 0;
    received = sum;
    if (silentChecks < SILENT_CHECKS) return;
    await cutIfSilent();
    silentChecks = 0;
  };

  return {
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      resume();
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    start(pools) {
      const hasWork = () => {
        isWatching = pools.some(({ totalCount, idleCount }) => totalCount > idleCount);
        return isWatching;
      };
      task = startPeriodic(check, { everyMs: checkEveryMs, hasWork });
      for (const pool of pools) pool.on('acquire', resume);
      return task;
    },
  };
}
