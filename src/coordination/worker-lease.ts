import { startPeriodic } from '../async/periodic.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Database } from '../storage/database.ts';
import { statement } from '../storage/sql.ts';
import { makeId } from '../text/ids.ts';

/**
 * This process as an owner of turns and runs in the database. It keeps them as long as it stores heartbeats.
 */
export type Owner = {
  /** `own_…`. Changes after the process was declared dead and lost its turns and runs. */
  id(): string;
  /** Whether a heartbeat was stored so recently that no other process can have declared this one dead. */
  isAlive(): boolean;
  /** Stores heartbeats until it is disposed of; none if no other process can declare this one dead. */
  start(): AsyncDisposable;
  /** Deletes the owner, which releases all that it holds. If the database is unavailable, the heartbeat expires. */
  close(): Promise<void>;
};

export const HEARTBEAT_MS = 2_000;
/** A process with an older heartbeat may be dead. */
const SILENT_AFTER_MS = 3_000;
/** Other processes declare a process with an older heartbeat dead. */
export const DEAD_AFTER_MS = 8_000;
/** The time after a heartbeat in which a process is sure to be alive, less than `DEAD_AFTER_MS` by a slow call. */
const ALIVE_FOR_MS = 6_000;

/** All times are the database's: the clocks of the processes may differ. */
const JOIN = statement(`
  INSERT INTO owners (id, heartbeat_at)
  SELECT requested.id, CASE WHEN "isAlone" THEN 'infinity' ELSE now() END
  FROM json_to_record($1) AS requested (id text, "isAlone" boolean) RETURNING owners.id`);

const IS_DEAD = `heartbeat_at < now() - interval '${DEAD_AFTER_MS} milliseconds'`;

const BEAT = statement(`
  WITH requested AS (SELECT id FROM json_to_record($1) AS requested (id text)),
    former AS (SELECT owners.id, heartbeat_at FROM owners JOIN requested ON owners.id = requested.id)
  UPDATE owners SET heartbeat_at = now() FROM former WHERE owners.id = former.id
  RETURNING (extract(epoch FROM now() - former.heartbeat_at) * 1000)::float8 AS "silentMs", EXISTS (
    SELECT 1 FROM owners AS other WHERE other.id <> owners.id AND other.${IS_DEAD}
  ) AS "hasDead"`);

const DELETE_DEAD = statement(`
  DELETE FROM owners USING json_to_record($1) AS requested (id text)
  WHERE ${IS_DEAD} AND owners.id <> requested.id`);

/**
 * Registers this process as an owner. Each heartbeat also deletes dead owners. Heartbeats use the pool of `sql`,
 * so slow dashboard queries do not delay them. After a database outage or a clock step all heartbeats are old: deletion
 * then pauses until every live process had time to store one.
 *
 * @param isAlone whether no other process can use the database. Then no heartbeats are necessary.
 * @param onLost called after other processes declared this one dead. It has a new id then.
 * @param onFreed called after dead owners were deleted, which releases what they held.
 */
export async function createOwner({
  prisma,
  sql,
  log,
  isAlone = false,
  onLost,
  onFreed = () => {},
}: Pick<Database, 'prisma' | 'sql'> & {
  log: Log;
  isAlone?: boolean | undefined;
  onLost: () => void;
  onFreed?: () => unknown;
}): Promise<Owner> {
  const join = async () => {
    const id = makeId('own');
    await sql(JOIN, [JSON.stringify({ id, isAlone })]);
    return id;
  };
  let id = await join();
  let beatenAt = performance.now();
  let graceStartedAt = beatenAt - DEAD_AFTER_MS;

  const beat = async () => {
    const [alive] = await sql<{ silentMs: number; hasDead: boolean }>(BEAT, [
      JSON.stringify({ id }),
    ]);
    const now = performance.now();
    const silentMs = Math.max(now - beatenAt, alive?.silentMs ?? 0);
    if (silentMs > DEAD_AFTER_MS / 2) graceStartedAt = now;
    if (alive === undefined) {
      log.error(
        { owner: id },
        'This process stored no heartbeat in time and lost its runs and turns.',
      );
      id = await join();
      onLost();
    }
    beatenAt = now;
    const hasDead = alive === undefined || alive.hasDead;
    if (!hasDead || now - graceStartedAt < DEAD_AFTER_MS) return;
    await sql(DELETE_DEAD, [JSON.stringify({ id })]);
    onFreed();
  };

  return {
    id: () => id,
    isAlive: () => isAlone || performance.now() - beatenAt < ALIVE_FOR_MS,
    start: () =>
      isAlone
        ? new AsyncDisposableStack()
        : startPeriodic(beat, { everyMs: HEARTBEAT_MS, log, what: 'Heartbeat' }),
    async close() {
      await prisma.owner.deleteMany({ where: { id } }).catch((err: unknown) => {
        log.error(
          { err },
          'Owner could not be deleted. Other processes will delete it when its heartbeat expires.',
        );
      });
    },
  };
}

/**
 * SQL that is true if the id in a column belongs to no live process. It avoids NOT EXISTS, which PostgreSQL plans as an
 * anti-join: after a wait for a row lock the anti-join is not checked again, so the row would be taken from its new
 * owner.
 */
export function isOwnerless(column: string): string {
  return `(SELECT count(*) FROM owners WHERE owners.id = ${column}) = 0`;
}

/** SQL that is true if the process whose id is in a column may be dead: it is no owner, or its heartbeat is late. */
export function isSilent(column: string): string {
  return `(SELECT count(*) FROM owners WHERE owners.id = ${column}
    AND heartbeat_at > now() - interval '${SILENT_AFTER_MS} milliseconds') = 0`;
}

/** Deletes all owners. Only for a database that no other process can use. */
export async function forgetOwners(prisma: PrismaClient): Promise<void> {
  await prisma.owner.deleteMany();
}
