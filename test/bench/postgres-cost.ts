import { readFile } from 'node:fs/promises';
import pg from 'pg';

/** What a database has used since its creation, or its server for the log. */
export type PostgresCost = {
  /** CPU time of the server processes of the database's connections; NaN if the server is on another machine. */
  cpuMs: number;
  /** Bytes of write-ahead log, of all databases of the server. */
  walBytes: number;
  transactions: number;
};

/** Linux counts CPU time in this many ticks a second. */
const TICKS = 100;
/** The fields of `/proc/PID/stat` after the name of the program: user and system time. Source: proc(5). */
const [USER, SYSTEM] = [11, 12];

/** Reads the cost of a database. @param url of the database. */
export async function readPostgresCost(url: string): Promise<PostgresCost> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pids: number[]; wal: string; transactions: string }>(`
      SELECT pg_stat_force_next_flush(), ARRAY(
          SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        ) AS pids,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS wal,
        (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database())::text AS transactions`);
    const { pids = [], wal = '0', transactions = '0' } = rows[0] ?? {};
    const times = await Promise.all(pids.map(cpuMsOf));
    return {
      cpuMs: times.reduce((sum, ms) => sum + ms, 0),
      walBytes: Number(wal),
      transactions: Number(transactions),
    };
  } finally {
    await client.end();
  }
}

async function cpuMsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[USER]) + Number(fields[SYSTEM])) * 1_000) / TICKS;
}
