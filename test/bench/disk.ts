import { Agent } from 'node:http';
import { startServer } from './child.ts';
import { createClient } from './client.ts';
import { runRound } from './load.ts';
import { freshDatabase, query } from './postgres.ts';
import { align } from './report.ts';
import { prepareParley, startTarget, type TargetOptions } from './targets.ts';
import { createConversation } from './workload.ts';

const CONNECTIONS = 16;
/** Rounds of chats, after one that warms up. After each one the tables are vacuumed, as autovacuum does in time. */
const ROUNDS = 10;
const CHATS = 2_000;

/** The size of each table and each of its indexes, and of the table's long values, which are in a table of their own. */
const SIZES = `
  SELECT tables.relname || COALESCE(' ' || indexes.relname, '') AS name,
    pg_relation_size(COALESCE(indexes.oid, tables.oid))::float8
      + CASE WHEN indexes.oid IS NULL AND tables.reltoastrelid <> 0 THEN pg_total_relation_size(tables.reltoastrelid) ELSE 0 END AS bytes
  FROM pg_class AS tables
  LEFT JOIN LATERAL (
    SELECT NULL::oid AS oid UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = tables.oid
  ) AS parts ON true
  LEFT JOIN pg_class AS indexes ON indexes.oid = parts.oid
  WHERE tables.relnamespace = 'public'::regnamespace AND tables.relkind = 'r'`;

/** Measures how much of the disk a chat takes on PostgreSQL: its rows, and its entries of indexes. */
export async function benchDisk({
  postgresUrl,
  ...options
}: TargetOptions & { postgresUrl: string }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { signal } = options;
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const server = await prepareParley('Parley', `${url}/v1`, { ...options, stack }, databaseUrl);
  const parley = await startTarget(server, stack);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  stack.defer(() => agent.destroy());
  const send = createClient(parley, 'json', agent);
  const sizes = async () => {
    const rows = await query<{ name: string; bytes: number }>(databaseUrl, SIZES);
    return new Map(rows.map(({ name, bytes }) => [name, bytes]));
  };
  const chat = async () => {
    const conversations = Array.from({ length: CONNECTIONS }, createConversation);
    const limits = { ms: Number.POSITIVE_INFINITY, chats: CHATS };
    const { failures } = await runRound(parley, send, conversations, limits, signal);
    signal.throwIfAborted();
    if (failures.length > 0) throw new Error(`A chat failed: ${failures[0]}\n${parley.output()}`);
    await query(databaseUrl, 'VACUUM');
  };
  // A warm-up.
  await chat();
  const before = await sizes();
  for (let round = 0; round < ROUNDS; round += 1) await chat();
  const after = await sizes();
  const chats = ROUNDS * CHATS;
  const grown = [...after]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / chats }))
    .filter(({ bytes }) => bytes >= 1)
    .sort((one, other) => other.bytes - one.bytes);
  const all = { name: 'together', bytes: grown.reduce((sum, { bytes }) => sum + bytes, 0) };
  const rows = [...grown, all].map(({ name, bytes }) => [name, bytes.toFixed(0)]);
  console.log(`Bytes of a chat:\n\n${align([['', 'bytes'], ...rows])}\n`);
}
