import type { PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { statement } from '../storage/sql.ts';

/**
 * This process, as one of those that work on a database: what it holds there (turns of sessions, runs) is its own
 * for so long as its heart beats.
 */
export type Owner = {
  /** `own_…`. Another one once this process was taken for dead: what it held is lost then. */
  id(): string;
  /** Leaves the owners, and what is still held with it; where the database is away, it is taken for dead instead. */
  close(): Promise<void>;
};

const HEARTBEAT_MS = 2_000;
/** A process whose heartbeat is older may have died. */
const SILENT_AFTER_MS = 3_000;
/** A process that has been silent for so long is taken for dead by the others. */
const DEAD_AFTER_MS = 8_000;

/** By the clock of the database alone: those of its processes may differ. */
const JOIN = statement(`
  INSERT INTO owners (id, heartbeat_at)
  SELECT asked.id, now() FROM json_to_record($1) AS asked (id text) RETURNING owners.id`);

const BEAT = statement(`
  WITH asked AS (SELECT id FROM json_to_record($1) AS asked (id text)),
    former AS (SELECT owners.id, heartbeat_at FROM owners JOIN asked ON owners.id = asked.id)
  UPDATE owners SET heartbeat_at = now() FROM former WHERE owners.id = former.id
  RETURNING (extract(epoch FROM now() - former.heartbeat_at) * 1000)::float8 AS "silentMs"`);

const TAKE_OUT = statement(`
  DELETE FROM owners USING json_to_record($1) AS asked (id text)
  WHERE heartbeat_at < now() - interval '${DEAD_AFTER_MS} milliseconds' AND owners.id <> asked.id`);

/**
 * Joins the owners, and takes out those who are dead. No question of a dashboard comes before a heartbeat. Where the
 * database was away, or its clock has made a step, everybody was silent: nobody is taken out before all have had the
 * time to be heard again.
 *
 * @param onLost called when this process was taken for dead, and goes on as somebody new.
 */
export async function createOwner({
  prisma,
  sql,
  log,
  onLost,
}: Pick<Database, 'prisma' | 'sql'> & {
  log: Log;
  onLost: () => void;
}): Promise<Owner> {
  const join = async () => {
    const id = makeId('own');
    await sql(JOIN, [JSON.stringify({ id })]);
    return id;
  };
  let id = await join();
  let beating: Promise<void> | undefined;
  let beatenAt = performance.now();
  let othersHeardAt = beatenAt - DEAD_AFTER_MS;

  const beat = async () => {
    const [alive] = await sql<{ silentMs: number }>(BEAT, [JSON.stringify({ id })]);
    const now = performance.now();
    const silentMs = Math.max(now - beatenAt, alive?.silentMs ?? 0);
    if (silentMs > DEAD_AFTER_MS / 2) othersHeardAt = now;
    beatenAt = now;
    if (alive === undefined) {
      log.error({ owner: id }, 'This process was silent for so long that it lost its runs.');
      id = await join();
      onLost();
    }
    if (now - othersHeardAt >= DEAD_AFTER_MS) await sql(TAKE_OUT, [JSON.stringify({ id })]);
  };

  const timer = setInterval(() => {
    beating ??= beat()
      .catch((err: unknown) => {
        log.error({ err }, 'The heartbeat of this process could not be stored.');
      })
      .finally(() => {
        beating = undefined;
      });
  }, HEARTBEAT_MS);

  return {
    id: () => id,
    async close() {
      clearInterval(timer);
      await beating;
      await prisma.owner.deleteMany({ where: { id } }).catch((err: unknown) => {
        log.error({ err }, 'This process could not leave. It will be taken for dead.');
      });
    },
  };
}

/**
 * SQL for that no process that lives has the id in a column. Not by NOT EXISTS: PostgreSQL makes an anti-join of that,
 * which is passed blindly where a row is looked at again that the statement has waited for, and would be taken from its
 * new owner.
 */
export function isOwnerless(column: string): string {
  return `(SELECT count(*) FROM owners WHERE owners.id = ${column}) = 0`;
}

/** SQL that is true when the process whose id is in a column may be dead: it is no owner, or has missed a heartbeat. */
export function isSilent(column: string): string {
  return `(SELECT count(*) FROM owners WHERE owners.id = ${column}
    AND heartbeat_at > now() - interval '${SILENT_AFTER_MS} milliseconds') = 0`;
}

/** Takes all owners out: for a database that nobody else can be working on. */
export async function forgetOwners(prisma: PrismaClient): Promise<void> {
  await prisma.owner.deleteMany();
}
