import { hash } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';
import type { Prisma } from '../generated/prisma/client.ts';
import { setLocal } from './set-local.ts';

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
export const BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

export function statement(text: string): Statement {
  return { name: `parley_${hash('sha256', text).slice(0, 24)}`, text };
}

/** @param pool whose connections keep prepared statements if it `hasSessions`. Else each execution plans its statement. */
export function postgresSql(pool: Pool, { hasSessions }: { hasSessions: boolean }): Sql {
  return async ({ name, text }, values) =>
    (await pool.query({ ...(hasSessions && { name }), text, values })).rows;
}

/**
 * A search uses one core. A bitmap of 32 MB names each run among 5 GB of them. A smaller one would name whole pages, and
 * PostgreSQL would test each run of these pages again.
 */
const SEARCH = { work_mem: "'32MB'", max_parallel_workers_per_gather: 0, jit: 'off' };

/**
 * Executes statements that Prisma composed, each within a time limit in milliseconds: PostgreSQL ends a statement that
 * takes longer, with the code 57014. Numbers and texts only: no other type is read as Prisma reads it.
 */
export function postgresQuery(pool: Pool) {
  return async <Rows>({ text, values }: Prisma.Sql, limitMs: number): Promise<Rows> => {
    const client = await pool.connect();
    try {
      const limit = { ...SEARCH, statement_timeout: Math.max(1, Math.ceil(limitMs)) };
      await client.query(`BEGIN READ ONLY; ${setLocal(limit)}`);
      const { rows } = await client.query({ text, values });
      await client.query('COMMIT');
      client.release();
      return rows as Rows;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
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
    const results = await pglite.exec(`${setLocal(BY_INDEX)}; ${execution}`);
    return (results.at(-1)?.rows ?? []) as Row[];
  };
}

/** A string literal of SQL, in which only the quote is special. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
