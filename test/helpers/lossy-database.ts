import type { Database } from '../../src/storage/database.ts';
import type { Sql, Statement } from '../../src/storage/sql.ts';

/** The error of node-postgres for a closed connection. */
export const cutError = () => new Error('Connection terminated unexpectedly');

/** A proxy of an object that replaces one member. */
export const withMember = <Target extends object>(
  target: Target,
  name: keyof Target,
  member: unknown,
) =>
  new Proxy(target, {
    get: (inner, key, receiver) => (key === name ? member : Reflect.get(inner, key, receiver)),
  });

/**
 * A database whose driver fails on demand.
 *
 * @param hook called for each statement of the hot path, with a function that runs it. It may throw instead of answering.
 */
export function withSql(
  database: Database,
  hook: (call: {
    statement: Statement;
    json: string;
    run(): Promise<object[]>;
  }) => Promise<object[]>,
): Database {
  const sql: Sql = <Row extends object>(statement: Statement, values: string[]) => {
    const run = () => database.sql(statement, values);
    return hook({ statement, json: String(values[0]), run }) as Promise<Row[]>;
  };
  return { ...database, sql };
}
