import type { Owner } from '../../coordination/worker-lease.ts';
import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { type Claim, type ClaimRow, claimRow, releaseClaim } from '../../idempotency/claim.ts';
import type { Log } from '../../observability/log.ts';
import { type Observer, UNOBSERVED } from '../../observability/observer.ts';
import {
  type NewSession,
  type RecalledRow,
  type Recollection,
  readRecalled,
  type SessionState,
} from '../../sessions/history.ts';
import { type LeaseRow, releaseTurn } from '../../sessions/lease.ts';
import { createBatch } from '../../storage/batch.ts';
import type { Database } from '../../storage/database.ts';
import { compensateOnUnknown } from '../../storage/persist.ts';
import { makeId } from '../../text/ids.ts';
import type { JsonObject } from '../../text/json.ts';
import type { BegunRun } from '../record/begun-run.ts';
import { createRunClock, type RunClock } from './run-clock.ts';
import { BEGIN } from './statements.ts';

/** The columns of a new run. */
export type NewRun = Pick<
  Prisma.RunUncheckedCreateInput,
  | 'botId'
  | 'deploymentId'
  | 'environment'
  | 'kind'
  | 'channel'
  | 'entrance'
  | 'sessionId'
  | 'input'
  | 'context'
  | 'model'
  | 'traceId'
  | 'metadata'
  | 'history'
  | 'onDisconnect'
  | 'keyId'
  | 'causedById'
>;

/** The further columns of a run that is enqueued instead of begun. */
export type QueuedColumns = {
  accountId: string;
  traceparent?: string | undefined;
  /** The name of the client for the run's trace, see `readClientName`. */
  client?: string | undefined;
  /** The JSON Schema of a structured reply, in place of the definition's output. */
  outputSchema?: JsonObject | undefined;
  /** Whether the model is offered no tools. */
  withoutTools?: boolean | undefined;
};

/** A session's turn that a run needs. */
export type TurnRequest = {
  /** The session, with the key that it gets if it is new. */
  session: NewSession;
  /** A new lease, or the one that already holds the turn. */
  leaseId: string;
  /** The number of messages to recall. */
  limit: number;
};

/** The options of a new run besides its row. */
export type BeginOptions = {
  /** The claim on the request's idempotency key: a new one, or one that already holds the key. */
  claim?: Claim | undefined;
  turn?: TurnRequest | undefined;
  /** Set to enqueue the run. */
  queued?: QueuedColumns | undefined;
};

export type BeginOutcome =
  | {
      kind: 'begun';
      begun: BegunRun;
      clock: RunClock;
      /** The turn; `undefined` if none was requested. */
      session: SessionState | undefined;
      /** `undefined` without a turn, or if the statement may have read an outdated one. */
      recollection: Recollection | undefined;
    }
  /** Another request has the idempotency key. Nothing was stored. */
  | { kind: 'keyTaken' }
  /** The turn has a holder or waiters. No run was created, but the claim holds its key. */
  | { kind: 'turnBusy' };

/**
 * Claims the idempotency key, acquires the session's turn, creates the run and recalls the conversation, in one
 * statement. If the outcome of the statement is unknown, it releases the key and the turn, and leaves the run to
 * recovery.
 */
export type Begin = (run: NewRun, options?: BeginOptions) => Promise<BeginOutcome>;

export function createBegin({
  prisma,
  sql,
  owner,
  observer = UNOBSERVED,
  log,
}: Pick<Database, 'prisma' | 'sql'> & {
  owner: Pick<Owner, 'id'>;
  observer?: Observer | undefined;
  log: Log;
}): Begin {
  const beginAll = createBatch<RequestedRow, BegunRow>(sql, BEGIN, {
    onSend: (runs) => observer.batchSent('begin', runs),
  });

  /** Releases in the order in which `BEGIN` acquires. */
  const release = async (run: BegunRun, { claim, turn }: BeginOptions) => {
    if (claim) await releaseClaim(prisma, claim);
    if (turn) {
      const { key: _, ...session } = turn.session;
      await releaseTurn(prisma, { ...session, leaseId: turn.leaseId });
    }
    await disown(prisma, run);
  };

  return async (run, options = {}) => {
    const { claim, turn, queued } = options;
    const begun = {
      id: makeId('run'),
      botId: run.botId,
      ownerId: owner.id(),
      attempt: queued ? 0 : 1,
    };
    const request: RequestedRow = {
      ...run,
      ...begun,
      ...(claim && claimRow(claim)),
      ...(turn && turnRow(turn)),
      ...queued,
      status: queued ? 'QUEUED' : 'RUNNING',
    };
    const [row] = await compensateOnUnknown(
      beginAll(begun.id, request),
      () => release(begun, options),
      { log, what: `The release of run ${begun.id}` },
    );
    if (!row) throw new Error('The statement that begins runs returned no outcome.');
    if (row.outcome !== 'begun') return { kind: row.outcome };
    const session = turn && { key: row.sessionKey, turns: row.turns, leaseId: turn.leaseId };
    const recollection = row.isCurrent ? readRecalled(row) : undefined;
    const clock = createRunClock({ ...row, startedAt: row.createdAt });
    return { kind: 'begun', begun, clock, session, recollection };
  };
}

/** Matches the run's row while this attempt owns it. */
export function stillOf(run: BegunRun) {
  return { ...run, status: 'RUNNING' as const };
}

/** Releases a run to recovery. */
export function disown(prisma: PrismaClient, run: BegunRun) {
  return prisma.run.updateMany({ where: stillOf(run), data: { ownerId: null } });
}

type RequestedRow = NewRun &
  BegunRun &
  Partial<ClaimRow> &
  Partial<Pick<LeaseRow, 'sessionKey' | 'leaseId'>> &
  Partial<QueuedColumns> & { limit?: number; status: 'QUEUED' | 'RUNNING' };

/** Without a turn, `sessionKey`, `turns` and `isCurrent` are null. */
type BegunRow = RecalledRow & {
  outcome: BeginOutcome['kind'];
  sessionKey: string;
  turns: number;
  isCurrent: boolean;
  createdAt: number;
  answeredAt: number;
};

function turnRow({ session: { key, ...session }, leaseId, limit }: TurnRequest) {
  return { ...session, sessionKey: key, leaseId, limit };
}
