import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { isOwnerless, type Owner } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import { persist, undo } from '../storage/persist.ts';
import { statement } from '../storage/sql.ts';
import type { NewSession, SessionRef, SessionState } from './history.ts';
import { createInOrder } from './keyed-queue.ts';

/** What to do with a message to a busy session: wait for the turn, or reject at once. */
export type OnBusy = 'ENQUEUE' | 'REJECT';

/**
 * Serializes the turns of a session in arrival order, across all processes on one database. The holder of a turn has a
 * lease on the session's row while its process lives. Waiters draw tickets, and the lowest ticket is next. Sessions do
 * not block each other.
 */
export type Turns = {
  /**
   * Waits for the session's turn and acquires it. Creates the session if it does not exist. Updates `lastSeenAt`.
   *
   * @param options `takeFree` replaces the statement that acquires a free turn, to do more in the same statement.
   * @throws GatewayError `session_busy` if 16 messages wait already, after 60 seconds, or at once with `REJECT`; the
   *   signal's reason if it aborts.
   */
  take(
    session: NewSession,
    options: { onBusy?: OnBusy | undefined; signal: AbortSignal; takeFree?: TakeFree | undefined },
  ): Promise<SessionState>;
  /** Notifies the waiters after the end of a run has released the turn. */
  wake(session: SessionState): void;
  /** Releases a turn without storing anything. */
  release(session: SessionState): Promise<void>;
};

/** Acquires a turn under a new lease. @returns `undefined` if the turn has a holder or waiters. */
export type TakeFree = (session: NewSession, leaseId: string) => Promise<SessionState | undefined>;

const MAX_WAITING = 16;
const MAX_WAIT_MS = 60_000;

/** Identifies a turn by its lease and its session. */
type Lease = { leaseId: string } & ({ id: string } | SessionRef);

/** A row of `LEASE_COLUMNS`. */
export type LeaseRow = Omit<NewSession, 'key'> & {
  sessionKey: string;
  ownerId: string;
  leaseId: string;
};

export const LEASE_COLUMNS =
  '"sessionKey" text, "botId" text, environment text, "sessionId" text, "ownerId" text, "leaseId" text';

/**
 * Acquires the free turns among the sessions in `asked`. Locks them in a fixed order, to avoid deadlocks. A repeat
 * after a lost response returns the same. It counts waiters because PostgreSQL would plan an EXISTS as a scan of all
 * waiters.
 */
export const TAKE_ASKED = `
  INSERT INTO sessions (id, bot_id, environment, session_id, lease_owner, lease_id)
  SELECT "sessionKey", "botId", environment::"Environment", "sessionId", "ownerId", "leaseId"
  FROM asked
  ORDER BY "botId", environment, "sessionId"
  ON CONFLICT (bot_id, environment, session_id) DO UPDATE
  SET lease_owner = excluded.lease_owner, lease_id = excluded.lease_id, last_seen_at = now()
  WHERE sessions.lease_id = excluded.lease_id
    OR (${isOwnerless('sessions.lease_owner')}
      AND (SELECT count(*) FROM turn_waiters WHERE session_key = sessions.id) = 0)
  RETURNING lease_id AS key, id, turns`;

const TAKE = statement(
  `WITH asked AS (SELECT * FROM json_to_recordset($1) AS asked (${LEASE_COLUMNS})) ${TAKE_ASKED}`,
);

type Line = { ticket: bigint; sessionKey: string; leaseId: string };

export function createTurns({
  prisma,
  sql,
  owner,
  pubsub,
  log,
  maxWaitMs = MAX_WAIT_MS,
}: Pick<Database, 'prisma' | 'sql'> & {
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  log: Log;
  maxWaitMs?: number;
}): Turns {
  const inArrivalOrder = createInOrder();
  const takeAll = createBatch<LeaseRow, { id: string; turns: number }>(sql, TAKE);

  /** Compensates a failed acquisition that may have committed: this live process would hold the lease for ever. */
  const sure = async <T>(lease: Lease, taking: Promise<T>): Promise<T> => {
    try {
      return await taking;
    } catch (error) {
      await undo(() => giveBack(lease), { log, what: 'The release of a turn' });
      throw error;
    }
  };

  const giveBack = (where: Lease) =>
    prisma.session.updateMany({ where, data: { leaseId: null, leaseOwner: null } });

  const takeAlone: TakeFree = async ({ key: sessionKey, ...session }, leaseId) => {
    const row = { ...session, sessionKey, ownerId: owner.id(), leaseId };
    const [taken] = await takeAll(leaseId, row);
    return taken && { key: taken.id, turns: taken.turns, leaseId };
  };

  /** Draws a ticket. Locks the session's row, so that concurrent requests cannot exceed the limit of waiters. */
  const enterLine = async (session: NewSession): Promise<Line | 'full' | 'gone'> => {
    const { botId, environment, sessionId } = session;
    const leaseId = makeId('trn');
    try {
      const [sessions, lines] = await prisma.$transaction([
        prisma.$queryRaw<unknown[]>`
          SELECT id FROM sessions
          WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}
          FOR UPDATE`,
        prisma.$queryRaw<Line[]>`
          INSERT INTO turn_waiters (session_key, owner_id, lease_id)
          SELECT id, ${owner.id()}, ${leaseId} FROM sessions
          WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}
            AND (SELECT count(*) FROM turn_waiters WHERE session_key = sessions.id) < ${MAX_WAITING}
          RETURNING ticket, session_key AS "sessionKey", lease_id AS "leaseId"`,
      ]);
      return lines[0] ?? (sessions.length > 0 ? 'full' : 'gone');
    } catch (error) {
      await undo(gone({ leaseId }), waitsNoMore);
      throw error;
    }
  };

  /** Acquires the turn if this ticket is the lowest and the turn is free. */
  const takeNext = async ({
    ticket,
    sessionKey,
    leaseId,
  }: Line): Promise<SessionState | 'wait' | 'gone'> => {
    const [found] = await sure(
      { id: sessionKey, leaseId },
      prisma.$queryRaw<{ turns: number | null }[]>`
      WITH taken AS (
        UPDATE sessions SET lease_owner = ${owner.id()}, lease_id = ${leaseId}, last_seen_at = now()
        WHERE id = ${sessionKey}
          AND ${Prisma.raw(isOwnerless('sessions.lease_owner'))}
          AND ${ticket} = (SELECT min(ticket) FROM turn_waiters WHERE session_key = ${sessionKey})
        RETURNING turns
      ), gone AS (
        DELETE FROM turn_waiters WHERE ticket = ${ticket} AND EXISTS (SELECT 1 FROM taken)
      )
      SELECT (SELECT turns FROM taken) AS turns FROM turn_waiters WHERE ticket = ${ticket}`,
    );
    if (found === undefined) return 'gone';
    return found.turns === null ? 'wait' : { key: sessionKey, turns: found.turns, leaseId };
  };

  const waitsNoMore = { log, what: 'The removal of a turn ticket' };

  const gone =
    ({ leaseId, sessionKey }: Pick<Line, 'leaseId'> & Partial<Line>) =>
    async () => {
      await prisma.turnWaiter.deleteMany({ where: { leaseId } });
      if (sessionKey) pubsub.publish(channelOf(sessionKey), '');
    };

  /** @returns `gone` if the ticket was deleted: the session was erased, or this process was declared dead. */
  const waitInLine = async (line: Line, signal: AbortSignal): Promise<SessionState | 'gone'> => {
    try {
      for await (const _ of pollOnNotify(pubsub, channelOf(line.sessionKey), signal, maxWaitMs)) {
        const found = await takeNext(line);
        if (found !== 'wait') return found;
      }
      signal.throwIfAborted();
      throw late();
    } catch (error) {
      await persist(gone(line), waitsNoMore);
      throw error;
    }
  };

  const enter = async (session: NewSession, onBusy: OnBusy, takeFree: TakeFree) => {
    const leaseId = makeId('trn');
    const { key: _, ...where } = session;
    const free = await sure({ ...where, leaseId }, takeFree(session, leaseId));
    if (free) return free;
    if (onBusy === 'REJECT') throw busy('it takes one at a time');
    return enterLine(session);
  };

  const free = ({ key, leaseId }: SessionState) => giveBack({ id: key, leaseId });

  const wake = ({ key }: SessionState) => pubsub.publish(channelOf(key), '');

  const late = () => busy(`it was not free within ${maxWaitMs / 1000} seconds`);

  const release = (session: SessionState) =>
    persist(() => free(session).then(() => wake(session)), { log, what: 'The release of a turn' });

  return {
    async take(session, { onBusy = 'ENQUEUE', signal, takeFree = takeAlone }) {
      const until = performance.now() + maxWaitMs;
      for (;;) {
        const entered = await inArrivalOrder(nameOf(session), async () => {
          signal.throwIfAborted();
          // Earlier requests may have used up the time while the database did not answer.
          if (performance.now() > until) throw late();
          return enter(session, onBusy, takeFree);
        });
        if (entered === 'full') throw busy(`${MAX_WAITING} messages wait already`);
        if (entered === 'gone') continue;
        if (!('ticket' in entered)) return entered;
        const taken = await waitInLine(entered, signal);
        if (taken === 'gone') continue;
        if (!signal.aborted) return taken;
        await release(taken);
      }
    },
    wake,
    release,
  };
}

function nameOf({ botId, environment, sessionId }: NewSession): string {
  return JSON.stringify([botId, environment, sessionId]);
}

function channelOf(sessionKey: string): string {
  return `turn:${sessionKey}`;
}

function busy(why: string): GatewayError {
  return new GatewayError('session_busy', `The session is busy with another message: ${why}.`);
}
