import { looks } from '../coordination/poll-on-notify.ts';
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

/** What becomes of a message to a session that is busy with another one: it waits, or is refused at once. */
export type OnBusy = 'ENQUEUE' | 'REJECT';

/**
 * Lets the turns of one session go one at a time, in arrival order, over all processes that work on the database.
 * The holder has a lease on the session's row for as long as its process lives; who comes while it is held draws a
 * ticket, and the lowest ticket is the next. Sessions do not wait for each other.
 */
export type Turns = {
  /**
   * Waits for the session's turn; makes the session where it is new, and notes that it was seen.
   *
   * @param options `takeFree` takes the turn where it is free, in place of what does only that.
   * @throws GatewayError `session_busy` when 16 wait already, 60 seconds have passed, or the caller does not want
   *   to wait; the signal's reason when the caller goes.
   */
  take(
    session: NewSession,
    options: { onBusy?: OnBusy | undefined; signal: AbortSignal; takeFree?: TakeFree | undefined },
  ): Promise<SessionState>;
  /** Tells those who wait that the turn was given back, along with the end of its run. */
  wake(session: SessionState): void;
  /** Gives a turn back in which nothing was done. */
  release(session: SessionState): Promise<void>;
};

/** Takes a turn, under a new lease, where nobody has it and nobody waits for it. */
export type TakeFree = (session: NewSession, leaseId: string) => Promise<SessionState | undefined>;

const MAX_WAITING = 16;
const MAX_WAIT_MS = 60_000;

/** Which turn of which session. */
type Lease = { leaseId: string } & ({ id: string } | SessionRef);

/** What it takes to take a turn. */
export type LeaseRow = Omit<NewSession, 'key'> & {
  sessionKey: string;
  ownerId: string;
  leaseId: string;
};

export const LEASE_COLUMNS =
  '"sessionKey" text, "botId" text, environment text, "sessionId" text, "ownerId" text, "leaseId" text';

/**
 * Takes the turns that `asked` has the columns of, where they are free. In one order, so that two who take several
 * do not wait for each other; and the same where it is done again, because its answer was lost. Of an EXISTS in place of
 * a count, PostgreSQL would read all waiters of all sessions.
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

  /** Gives a lease back where the answer was lost that tells whether it was taken: nobody else ever would. */
  const sure = async <T>(lease: Lease, taking: Promise<T>): Promise<T> => {
    try {
      return await taking;
    } catch (error) {
      await undo(() => giveBack(lease), { log, what: 'The end of a turn' });
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

  /** Draws a ticket. The session's row is locked for it, so that tickets are drawn and counted one by one. */
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

  /** Takes the turn where it is this ticket's. */
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

  const waitsNoMore = { log, what: 'That a message waits no more' };

  const gone =
    ({ leaseId, sessionKey }: Pick<Line, 'leaseId'> & Partial<Line>) =>
    async () => {
      await prisma.turnWaiter.deleteMany({ where: { leaseId } });
      if (sessionKey) pubsub.publish(channelOf(sessionKey), '');
    };

  /** @returns `gone` when the session was forgotten meanwhile, or this process taken for dead. */
  const waitInLine = async (line: Line, signal: AbortSignal): Promise<SessionState | 'gone'> => {
    try {
      for await (const _ of looks(pubsub, channelOf(line.sessionKey), signal, maxWaitMs)) {
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
    persist(() => free(session).then(() => wake(session)), { log, what: 'The end of a turn' });

  return {
    async take(session, { onBusy = 'ENQUEUE', signal, takeFree = takeAlone }) {
      const until = performance.now() + maxWaitMs;
      for (;;) {
        const entered = await inArrivalOrder(nameOf(session), async () => {
          signal.throwIfAborted();
          // Those before it may have waited for a database that is silent.
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
