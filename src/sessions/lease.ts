import { isOwnerless } from '../coordination/worker-lease.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { NewSession, SessionRef } from './history.ts';

/** A request for a session's turn: a row of `LEASE_COLUMNS`. */
export type LeaseRow = Omit<NewSession, 'key'> & {
  sessionKey: string;
  ownerId: string;
  leaseId: string;
};

export const LEASE_COLUMNS =
  '"sessionKey" text, "botId" text, environment text, "sessionId" text, "ownerId" text, "leaseId" text';

/**
 * SQL that acquires turns of sessions, if they are free or this lease holds them already. Creates new sessions. Returns
 * the acquired turns. Locks the sessions in a fixed order, to avoid deadlocks. If several rows request a turn of one
 * session, the oldest lease gets it. A repeat after a lost response returns the same. The statement counts waiters
 * because PostgreSQL would plan an EXISTS as a scan of all waiters.
 *
 * @param requests a table with `LEASE_COLUMNS`. Rows without a lease request no turn.
 */
export const acquireTurns = (requests: string) => `
  INSERT INTO sessions (id, bot_id, environment, session_id, lease_owner, lease_id)
  SELECT DISTINCT ON ("botId", environment, "sessionId")
    "sessionKey", "botId", environment::"Environment", "sessionId", "ownerId", "leaseId"
  FROM ${requests} WHERE "leaseId" IS NOT NULL
  ORDER BY "botId", environment, "sessionId", "leaseId"
  ON CONFLICT (bot_id, environment, session_id) DO UPDATE
  SET lease_owner = excluded.lease_owner, lease_id = excluded.lease_id, last_seen_at = now()
  WHERE sessions.lease_id = excluded.lease_id
    OR (${isOwnerless('sessions.lease_owner')}
      AND (SELECT count(*) FROM turn_waiters WHERE session_key = sessions.id) = 0)
  RETURNING lease_id AS key, id, turns`;

/** Releases a turn, if the lease still holds it. Safe to repeat. */
export function releaseTurn(
  prisma: PrismaClient,
  lease: { leaseId: string } & ({ id: string } | SessionRef),
) {
  return prisma.session.updateMany({ where: lease, data: { leaseId: null, leaseOwner: null } });
}
