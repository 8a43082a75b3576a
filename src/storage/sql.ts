import { hash } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';

/**
 * Executes statements without Prisma, which costs several times as much. Only for the statements of every chat. Tests
 * check them against the schema.
 */
export type Sql = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** A prepared statement. PostgreSQL caches its plan under the name. */
export type Statement = { name: string; text: string };

export function statement(text: string): Statement {
  return { name: `parley_${hash('sha256', text).slice(0, 24)}`, text };
}

export function postgresSql(pool: Pool): Sql {
  return async (prepared, values) => (await pool.query({ ...prepared, values })).rows;
}

export function embeddedSql(pglite: PGlite): Sql {
  return async <Row>({ text }: Statement, values: unknown[]) =>
    (await pglite.query<Row>(text, values)).rows;
}
