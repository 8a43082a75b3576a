import { hash } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';

/**
 * Statements that go to the database past Prisma, which costs several times as much: those of every chat, and
 * no others. The tests hold them against the same schema.
 */
export type Sql = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** A statement with a name, under which PostgreSQL keeps it prepared. */
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
