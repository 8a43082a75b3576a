import type { Look } from '../coordination/looks.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { ActiveRuns } from '../runs/life/active-runs.ts';
import type { Turns } from '../sessions/turns.ts';

/** Time between two searches, at least. A forgotten run is released by the second search that finds it. */
export const SEARCH_EVERY_MS = 15_000;

/** Whether the process holds a run, or a request waits for a turn. */
const MAY_BE_FORGOTTEN = Prisma.sql`(
  EXISTS (SELECT 1 FROM runs WHERE status = 'RUNNING' AND owner_id = requested.id)
  OR EXISTS (SELECT 1 FROM turn_waiters))`;

/** The turn of a session. */
type HeldTurn = { key: string; leaseId: string };

/**
 * Releases runs and turns that the database assigns to this process, although the process no longer has them. A failover
 * that loses the last transactions brings them back: the process ended them, but the new primary does not know it.
 * Recovery then finishes such a run, and its session takes the next turn.
 *
 * A run begins and ends in the database at a slightly different time than in the process, so only what two searches in a
 * row find is forgotten.
 */
export function createForgottenSearch({
  prisma,
  owner,
  activeRuns,
  turns,
  log,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  activeRuns: Pick<ActiveRuns, 'find' | 'holds'>;
  turns: Pick<Turns, 'notify'>;
  log: Log;
}): Look & { search(): Promise<void> } {
  let suspects = new Set<string>();
  let searchedAt = -Infinity;

  const findRuns = async (ownerId: string) => {
    const where = { status: 'RUNNING', ownerId } as const;
    const runs = await prisma.run.findMany({ where, select: { id: true } });
    return runs.map(({ id }) => id).filter((id) => !activeRuns.find(id));
  };

  /** Only turns that requests wait for, or whose run is forgotten: sessions have no index by owner. */
  const findTurns = async (ownerId: string, runIds: string[]) => {
    const held = await prisma.$queryRaw<HeldTurn[]>`
      SELECT sessions.id AS key, lease_id AS "leaseId" FROM sessions
      WHERE lease_owner = ${ownerId} AND id IN (
        SELECT session_key FROM turn_waiters
        UNION
        SELECT held.id FROM runs JOIN sessions AS held USING (bot_id, environment, session_id)
        WHERE runs.id = ANY(${runIds})
      )`;
    return held.filter(({ leaseId }) => !activeRuns.holds(leaseId));
  };

  const search = async () => {
    const ownerId = owner.id();
    const runs = await findRuns(ownerId);
    const leases = await findTurns(ownerId, runs);
    const earlier = suspects;
    suspects = new Set([...runs, ...leases.map(({ leaseId }) => leaseId)]);
    const lost = runs.filter((id) => earlier.has(id));
    const held = leases.filter(({ leaseId }) => earlier.has(leaseId));
    if (lost.length === 0 && held.length === 0) return;
    log.error(
      { runs: lost.length, turns: held.length },
      'The database has lost the ends of runs, perhaps in a failover. Recovery finishes these runs.',
    );
    await prisma.session.updateMany({
      where: { leaseOwner: ownerId, leaseId: { in: held.map(({ leaseId }) => leaseId) } },
      data: { leaseId: null, leaseOwner: null },
    });
    await prisma.run.updateMany({
      where: { id: { in: lost }, status: 'RUNNING', ownerId },
      data: { ownerId: null },
    });
    for (const turn of held) turns.notify(turn);
  };

  return {
    what: 'The search for forgotten runs',
    condition: MAY_BE_FORGOTTEN,
    search,
    async onAnswer(isTrue) {
      const now = performance.now();
      if (!isTrue || now - searchedAt < SEARCH_EVERY_MS) return;
      searchedAt = now;
      await search();
    },
  };
}
