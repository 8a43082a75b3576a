import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { isOwnerless, type Owner } from '../coordination/worker-lease.ts';
import { GatewayError } from '../errors/errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { compensateOnUnknown, persist } from '../storage/persist.ts';
import { makeId } from '../text/ids.ts';
import type { NewSession, SessionState } from './history.ts';
import { releaseTurn } from './lease.ts';

/** A request's place in the queue for a session's turn. The lowest number is next. */
export type Ticket = { number: bigint; sessionKey: string; leaseId: string };

/** The queues for the turns of busy sessions, in SQL. */
export type Tickets = {
  /**
   * Draws a ticket.
   *
   * @returns `undefined` if the session does not exist.
   * @throws GatewayError `session_busy` if 16 messages wait already.
   */
  enqueue(session: NewSession): Promise<Ticket | undefined>;
  /**
   * Waits until the ticket is the lowest and the turn is free, and acquires the turn. Removes the ticket.
   *
   * @returns `undefined` if the ticket was deleted: the session was erased, or this process was declared dead.
   * @throws GatewayError `session_busy` after 60 seconds; the signal's reason if it aborts.
   */
  waitForTurn(ticket: Ticket, signal: AbortSignal): Promise<SessionState | undefined>;
  /** Notifies the waiters that the turn is free. */
  notify(sessionKey: string): void;
};

const MAX_WAITING = 16;

export function createTickets({
  prisma,
  owner,
  pubsub,
  log,
  maxWaitMs,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
  pubsub: PubSub;
  log: Log;
  maxWaitMs: number;
}): Tickets {
  const removing = { log, what: 'The removal of a turn ticket' };

  const remove = (leaseId: string) => prisma.turnWaiter.deleteMany({ where: { leaseId } });

  const notify = (sessionKey: string) => pubsub.publish(channelOf(sessionKey), '');

  /** Locks the session's row, so that concurrent requests cannot exceed the limit of waiters. */
  const insert = ({ botId, environment, sessionId }: NewSession, leaseId: string) =>
    prisma.$transaction([
      prisma.$queryRaw<unknown[]>`
        SELECT id FROM sessions
        WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}
        FOR UPDATE`,
      prisma.$queryRaw<Ticket[]>`
        INSERT INTO turn_waiters (session_key, owner_id, lease_id)
        SELECT id, ${owner.id()}, ${leaseId} FROM sessions
        WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}
          AND (SELECT count(*) FROM turn_waiters WHERE session_key = sessions.id) < ${MAX_WAITING}
        RETURNING ticket AS number, session_key AS "sessionKey", lease_id AS "leaseId"`,
    ]);

  /** Acquires the turn if the ticket is the lowest and the turn is free. */
  const acquire = ({ number, sessionKey, leaseId }: Ticket) => prisma.$queryRaw<
    { turns: number | null }[]
  >`
    WITH acquired AS (
      UPDATE sessions SET lease_owner = ${owner.id()}, lease_id = ${leaseId}, last_seen_at = now()
      WHERE id = ${sessionKey}
        AND ${Prisma.raw(isOwnerless('sessions.lease_owner'))}
        AND ${number} = (SELECT min(ticket) FROM turn_waiters WHERE session_key = ${sessionKey})
      RETURNING turns
    ), removed AS (
      DELETE FROM turn_waiters WHERE ticket = ${number} AND EXISTS (SELECT 1 FROM acquired)
    )
    SELECT (SELECT turns FROM acquired) AS turns FROM turn_waiters WHERE ticket = ${number}`;

  return {
    async enqueue(session) {
      const leaseId = makeId('trn');
      const [sessions, [ticket]] = await compensateOnUnknown(
        insert(session, leaseId),
        () => remove(leaseId),
        removing,
      );
      if (!ticket && sessions.length > 0) throw busy(`${MAX_WAITING} messages wait already`);
      return ticket;
    },

    async waitForTurn(ticket, signal) {
      const { sessionKey, leaseId } = ticket;
      try {
        for await (const _ of pollOnNotify(pubsub, channelOf(sessionKey), signal, {
          limitMs: maxWaitMs,
        })) {
          const [found] = await compensateOnUnknown(
            acquire(ticket),
            () => releaseTurn(prisma, { id: sessionKey, leaseId }),
            { log, what: 'The release of a turn' },
          );
          if (found === undefined) return undefined;
          if (found.turns !== null) return { key: sessionKey, turns: found.turns, leaseId };
        }
        signal.throwIfAborted();
        throw late(maxWaitMs);
      } catch (error) {
        await persist(() => remove(leaseId).then(() => notify(sessionKey)), removing);
        throw error;
      }
    },

    notify,
  };
}

/** The error of a request to a busy session. */
export function busy(why: string): GatewayError {
  return new GatewayError('session_busy', `The session is busy with another message: ${why}.`);
}

/** The error of a request that has waited too long for the turn. */
export function late(maxWaitMs: number): GatewayError {
  return busy(`it was not free within ${maxWaitMs / 1000} seconds`);
}

function channelOf(sessionKey: string): string {
  return `turn:${sessionKey}`;
}
