import type pg from 'pg';
import { isReadOnly } from '../errors/outage.ts';

/**
 * Ends the connections of pools when their server refuses a write because it has become a standby. After a switch-over
 * the old primary keeps its connections, so every further write on them would be refused, and reads would get old rows.
 * A new connection reaches the new primary, by its name or by a proxy. A connection in use ends when it is released.
 */
export function leaveStandbys(pools: readonly pg.Pool[]): void {
  /** The connections that a pool may use again. */
  const current = new Set<pg.PoolClient>();
  const idle = new Set<pg.PoolClient>();

  const leave = () => {
    current.clear();
    // A pool removes an idle client that reports an error. A statement would fail with it.
    const reason = new Error('The server of this connection has become read-only.');
    for (const client of [...idle]) client.emit('error', reason);
  };

  for (const pool of pools) {
    pool.on('connect', (client) => {
      current.add(client);
      client.connection.on('errorMessage', (error: pg.DatabaseError) => {
        if (isReadOnly(error)) leave();
      });
    });
    pool.on('acquire', (client) => idle.delete(client));
    pool.on('release', (_error, client) => {
      // A pool removes a released client that has ended.
      if (current.has(client)) idle.add(client);
      else client.end();
    });
    pool.on('remove', (client) => {
      current.delete(client);
      idle.delete(client);
    });
  }
}
