import { hash } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';
import type { Prisma } from '../generated/prisma/client.ts';

/**
 * Executes statements without Prisma, which costs several times as much. Only for the statements of every chat. Tests
 * check them against the schema. A statement's parameters are texts, usually one of JSON.
 */
export type Sql = <Row extends object>(statement: Statement, values: string[]) => Promise<Row[]>;

/** A prepared statement. PostgreSQL caches its plan under the name. */
export type Statement = { name: string; text: string };

/**
 * Forces index plans for the statements of every chat. Each connection plans them once, perhaps while the tables are
 * still small, and would keep a plan that scans whole tables after they have grown.
 */
const BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** The settings as options of a connection that executes only the statements of every chat. */
export const BY_INDEX_OPTIONS = Object.entries(BY_INDEX)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
/** The settings as statements, for the rest of a transaction. */
export const BY_INDEX_SETTINGS = Object.entries(BY_INDEX).map(
  ([name, value]) => `SET LOCAL ${name} = ${value}`,
);

export function statement(text: string): Statement {
  return { name: `parley_${hash('sha256', text).slice(0, 24)}`, text };
}

export function postgresSql(pool: Pool): Sql {
  return async (prepared, values) => (await pool.query({ ...prepared, values })).rows;
}

/** Executes statements that Prisma composed. Numbers and texts only: no other type is read as Prisma reads it. */
export function postgresQuery(pool: Pool) {
  return async <Rows>({ text, values }: Prisma.Sql): Promise<Rows> =>
    (await pool.query({ text, values })).rows as Rows;
}

/**
 * PGlite parses and plans the text of a query each time, which takes longer than the execution, so this prepares the
 * statements in SQL. All of PGlite's queries share one connection.
 */
export function embeddedSql(pglite: PGlite): Sql {
  const prepared = new Map<string, Promise<unknown>>();
  const prepare = ({ name, text }: Statement) => {
    const preparation = pglite.exec(`PREPARE ${name} AS ${text}`);
    prepared.set(name, preparation);
    preparation.catch(() => prepared.delete(name));
    return preparation;
  };
  return async <Row extends object>(statement: Statement, values: string[]) => {
    await (prepared.get(statement.name) ?? prepare(statement));
    // One call of `exec` is one transaction.
    const execution = `EXECUTE ${statement.name}(${values.map(literal).join()})`;
    const results = await pglite.exec([...BY_INDEX_SETTINGS, execution].join('; '));
    return (results.at(-1)?.rows ?? []) as Row[];
  };
}

/** A string literal of SQL, in which only the quote is special. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
