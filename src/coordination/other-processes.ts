import { type PeriodicTask, startPeriodic } from '../async/periodic.ts';
import type { Log } from '../observability/log.ts';
import type { Sql } from '../storage/sql.ts';
import { statement } from '../storage/sql.ts';
import type { Owner } from './worker-lease.ts';

/** Finds processes that use the same database, although this one has no Redis to share limits with them. */
export type OtherProcesses = {
  /** One sentence while another process uses the database. */
  warning(): string | undefined;
  /** Searches once. */
  check(): Promise<void>;
  /** Searches every 10 seconds until it is disposed of. The first search is after 10 seconds, so that no ended process is found. */
  start(): PeriodicTask;
};

const WARNING =
  'Another process uses this database, but REDIS_URL is not set: both count limits apart, and live events do not reach clients of the other one.';
const CHECK_EVERY_MS = 10_000;

/** SQL that selects the owners whose process is live: it stores a heartbeat every 2 seconds. */
export const IS_LIVE = "heartbeat_at > now() - interval '5 seconds'";
const COUNT_OTHERS = statement(`
  SELECT count(*)::int AS others FROM owners JOIN json_to_record($1) AS requested (id text) ON owners.id <> requested.id
  WHERE ${IS_LIVE}`);

export function createOtherProcesses({
  sql,
  owner,
  log,
}: {
  sql: Sql;
  owner: Pick<Owner, 'id'>;
  log: Log;
}): OtherProcesses {
  let others = 0;
  const check = async () => {
    const [row] = await sql<{ others: number }>(COUNT_OTHERS, [JSON.stringify({ id: owner.id() })]);
    const before = others;
    others = row?.others ?? 0;
    if (others > 0 && before === 0) log.warn({}, WARNING);
  };
  return {
    warning: () => (others > 0 ? WARNING : undefined),
    check,
    start: () =>
      startPeriodic(check, { everyMs: CHECK_EVERY_MS, log, what: 'Search for other processes' }),
  };
}
