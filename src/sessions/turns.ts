import { createSemaphore } from '../async/semaphore.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { Log } from '../observability/log.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import { compensateOnUnknown, persist } from '../storage/persist.ts';
import { statement } from '../storage/sql.ts';
import { makeId } from '../text/ids.ts';
import type { NewSession, SessionState } from './history.ts';
import { acquireTurns, LEASE_COLUMNS, type LeaseRow, releaseTurn } from './lease.ts';
import { busy, createTickets, late } from './tickets.ts';

/** What to do with a message to a busy session: wait for the turn, or reject at once. */
export type OnBusy = 'ENQUEUE' | 'REJECT';

/** Default of `onBusy`: `ENQUEUE`. */
type WaitOptions = { onBusy?: OnBusy | undefined; signal: AbortSignal };

/** A request to a session. Until it is disposed, later requests of this process to the session wait. */
export type Arrival = Disposable & {
  session: NewSession;
  /** When the request has waited too long, by `performance.now()`. */
  until: number;
};

/**
 * Serializes the turns of a session in arrival order, across all processes on one database. The holder of a turn has a
 * lease on the session's row while its process lives. Waiters draw tickets, and the lowest ticket is next. Sessions do
 * not block each other.
 */
export type Turns = {
  /**
   * Waits for the session's turn and acquires it. Creates the session if it does not exist. Updates `lastSeenAt`.
   *
   * @throws the errors of `arrive` and `waitForTurn`.
   */
  acquire(session: NewSession, options: WaitOptions): Promise<SessionState>;
  /**
   * Waits until the earlier requests of this process to the session have the turn or a ticket.
   *
   * @throws GatewayError `session_busy` after 60 seconds; the signal's reason if it aborts.
   */
  arrive(session: NewSession, signal: AbortSignal): Promise<Arrival>;
  /**
   * Waits for the turn of a busy session and acquires it. Disposes the arrival as soon as the request has a ticket.
   *
   * @throws GatewayError `session_busy` if 16 messages wait already, after 60 seconds, or at once with `REJECT`; the
   *   signal's reason if it aborts.
   */
  waitForTurn(arrival: Arrival, options: WaitOptions): Promise<SessionState>;
  /** Notifies the waiters after the end of a run has released the turn. */
  notify(session: Pick<SessionState, 'key'>): void;
  /** Releases a turn without storing anything. */
  release(session: SessionState): Promise<void>;
};

const MAX_WAIT_MS = 60_000;

const ACQUIRE = statement(`
  WITH requested AS (SELECT * FROM json_to_recordset($1) AS requested (${LEASE_COLUMNS}))
  ${acquireTurns('requested')}`);

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
  const arrivals = createSemaphore();
  const tickets = createTickets({ prisma, owner, pubsub, log, maxWaitMs });
  const acquireAll = createBatch<LeaseRow, { id: string; turns: number }>(sql, ACQUIRE);
  const releasing = { log, what: 'The release of a turn' };

  const arrive = async (
    session: NewSession,
    signal: AbortSignal,
    until = performance.now() + maxWaitMs,
  ): Promise<Arrival> => {
    const { botId, environment, sessionId } = session;
    const leave = await arrivals.acquire(JSON.stringify([botId, environment, sessionId]), 1);
    const arrival = { session, until, [Symbol.dispose]: leave };
    // Earlier requests may have used up the time while the database did not answer.
    const isLate = performance.now() > until;
    if (!signal.aborted && !isLate) return arrival;
    leave();
    signal.throwIfAborted();
    throw late(maxWaitMs);
  };

  /** @returns `undefined` if the turn has a holder or waiters. */
  const acquireIfFree = async ({
    key,
    ...session
  }: NewSession): Promise<SessionState | undefined> => {
    const leaseId = makeId('trn');
    const [turn] = await compensateOnUnknown(
      acquireAll(leaseId, { ...session, sessionKey: key, ownerId: owner.id(), leaseId }),
      () => releaseTurn(prisma, { ...session, leaseId }),
      releasing,
    );
    return turn && { key: turn.id, turns: turn.turns, leaseId };
  };

  const release = (turn: SessionState) =>
    persist(async () => {
      await releaseTurn(prisma, { id: turn.key, leaseId: turn.leaseId });
      tickets.notify(turn.key);
    }, releasing);

  const acquire = async (session: NewSession, options: WaitOptions, until?: number) => {
    using arrival = await arrive(session, options.signal, until);
    return (await acquireIfFree(session)) ?? (await waitForTurn(arrival, options));
  };

  const drawTicket = async (arrival: Arrival, onBusy: OnBusy) => {
    using _arrival = arrival;
    if (onBusy === 'REJECT') throw busy('it takes one at a time');
    return await tickets.enqueue(arrival.session);
  };

  const waitForTurn: Turns['waitForTurn'] = async (arrival, options) => {
    const { onBusy = 'ENQUEUE', signal } = options;
    const ticket = await drawTicket(arrival, onBusy);
    const turn = ticket && (await tickets.waitForTurn(ticket, signal));
    if (!turn) return acquire(arrival.session, options, arrival.until);
    if (signal.aborted) await release(turn);
    signal.throwIfAborted();
    return turn;
  };

  return {
    acquire: (session, options) => acquire(session, options),
    arrive: (session, signal) => arrive(session, signal),
    waitForTurn,
    notify: ({ key }) => tickets.notify(key),
    release,
  };
}
