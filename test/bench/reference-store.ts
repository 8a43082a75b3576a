import pg from 'pg';
import { HISTORY } from './workload.ts';

/** The storage of the reference, directly on PostgreSQL. */
export type ReferenceStore = {
  /** The session's latest messages, oldest first. */
  load(session: string): Promise<StoredMessage[]>;
  /** Stores a run and its two messages in one transaction. */
  save(run: StoredRun): Promise<void>;
};

export type StoredMessage = { role: 'user' | 'assistant'; content: string };

export type StoredRun = {
  id: string;
  session: string;
  message: string;
  response: string;
  tokens: number;
  latencyMs: number;
};

const POOL_SIZE = 10;

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS reference;
  CREATE TABLE IF NOT EXISTS reference.runs (
    id uuid PRIMARY KEY,
    session text NOT NULL,
    tokens integer NOT NULL,
    latency_ms integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS reference.messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id uuid REFERENCES reference.runs,
    session text NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS messages_of_session ON reference.messages (session, id);
`;

/** Creates the tables in a schema of their own, unless another reference did. */
export async function createReferenceStore(databaseUrl: string): Promise<ReferenceStore> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: POOL_SIZE });
  await pool.query(TABLES);

  return {
    async load(session) {
      const { rows } = await pool.query<StoredMessage>(
        'SELECT role, content FROM reference.messages WHERE session = $1 ORDER BY id DESC LIMIT $2',
        [session, HISTORY],
      );
      return rows.reverse();
    },

    async save({ id, session, message, response, tokens, latencyMs }) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(
          'INSERT INTO reference.runs (id, session, tokens, latency_ms) VALUES ($1, $2, $3, $4)',
          [id, session, tokens, latencyMs],
        );
        await client.query(
          `INSERT INTO reference.messages (run_id, session, role, content)
           VALUES ($1, $2, 'user', $3), ($1, $2, 'assistant', $4)`,
          [id, session, message, response],
        );
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}
