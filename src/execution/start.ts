import { GatewayError } from '../errors.ts';
import type {
  Channel,
  Environment,
  OnDisconnect,
  Plan,
  Prisma,
} from '../generated/prisma/client.ts';
import type { Repeatable } from '../idempotency/key.ts';
import type { Idempotency } from '../idempotency/runs.ts';
import type { JsonObject } from '../json.ts';
import { isOutage } from '../outage.ts';
import type { Admission, LiveRun, LiveRuns } from '../runs/active-runs.ts';
import type { ReadOptions, RunEvent } from '../runs/events.ts';
import type { Replay } from '../runs/replay.ts';

/** The validated fields that every request for a run has. */
export type RunRequest = {
  accountId: string;
  /** The account's plan, which limits its active runs. */
  plan: Plan;
  botId: string;
  /** The cache version of the bot, if the caller has read it. */
  botVersion?: string | undefined;
  environment: Environment;
  channel: Channel;
  context: JsonObject | undefined;
  /** Default: `CONTINUE` with an idempotency key, else `CANCEL`. */
  onDisconnect: OnDisconnect | undefined;
  /** For 24 hours, a repeat of the request gets the first request's run. */
  idempotencyKey: string | undefined;
  /** The scope of the key, from `namespaceOf`. */
  idempotencyNamespace: string;
  /** The request's `traceparent` header, unchecked. The run's trace continues it. */
  traceparent: unknown;
};

/** The run that answers a request: a new one, or that of an earlier request with the same idempotency key. */
export type StartedRun = {
  id: string;
  /** Whether an earlier request created the run. */
  isReplayed: boolean;
  /** Reads the run's events from the first. */
  read(signal: AbortSignal, options?: ReadOptions): AsyncIterable<RunEvent>;
};

/** The complete reply of a run. */
export type Reply = {
  response: string;
  /** `null` for a run without a session. */
  sessionId: string | null;
  runId: string;
  /** Milliseconds from the request to the end of the reply. Includes the wait for the turn. */
  latencyMs: number;
  tokensUsed: number;
  /** In call order, without repeats. */
  toolsCalled: string[];
};

/** Builds the writes for the transaction that creates a run. `tx` is set if that transaction is interactive. */
export type BeginningWrites = (
  runId: string,
  tx?: Prisma.TransactionClient,
) => Prisma.PrismaPromise<unknown>[];

/**
 * Creates one run for a request, however often the client repeats it.
 *
 * @param begin creates the run, with the given writes in the same transaction.
 * @throws the errors of `begin` and of `Idempotency.claim`; then no run was created, and the key is free again.
 */
export type Once = (
  repeatable: Repeatable | undefined,
  signal: AbortSignal,
  begin: (also: BeginningWrites | undefined) => Promise<Pick<StartedRun, 'id' | 'read'>>,
) => Promise<StartedRun>;

export function createOnce({
  idempotency,
  replay,
}: {
  idempotency: Idempotency;
  replay: Replay;
}): Once {
  return async (repeatable, signal, begin) => {
    const isReplayed = false;
    if (!repeatable) return { ...(await begin(undefined)), isReplayed };
    const claim = await idempotency.claim(repeatable, signal);
    if ('runId' in claim) {
      const { runId: id } = claim;
      return { id, isReplayed: true, read: (...reader) => replay.read(id, 0, ...reader) };
    }
    try {
      const run = await begin((runId, tx) => [idempotency.answerWith(claim, runId, tx)]);
      idempotency.announce(claim);
      return { ...run, isReplayed };
    } catch (error) {
      await idempotency.release(claim);
      throw error;
    }
  };
}

/** As `Once`, for a run that this process executes at once. Acquires a slot for it. */
export type Start = (
  account: Pick<RunRequest, 'accountId' | 'plan'>,
  repeatable: Repeatable | undefined,
  signal: AbortSignal,
  begin: (place: Admission, also: BeginningWrites | undefined) => Promise<LiveRun>,
) => Promise<StartedRun>;

export function createStart({ liveRuns, once }: { liveRuns: LiveRuns; once: Once }): Start {
  return (account, repeatable, signal, begin) =>
    once(repeatable, signal, async (also) => {
      const place = liveRuns.admit(account);
      try {
        const { id, read } = await begin(place, also);
        return { id, read: (reader, options) => read(reader, 0, options) };
      } catch (error) {
        place.leave();
        throw error;
      }
    });
}

/** By default, a run with an idempotency key outlives its client, because the client may fetch it with a retry. */
export function onDisconnectOf({
  onDisconnect,
  idempotencyKey,
}: {
  onDisconnect: OnDisconnect | undefined;
  idempotencyKey: string | undefined;
}): OnDisconnect {
  return onDisconnect ?? (idempotencyKey === undefined ? 'CANCEL' : 'CONTINUE');
}

/**
 * Starts a run and reads its reply. An interrupted run releases its idempotency key, so if the key returned such a run,
 * the request starts another one: 3 starts at most.
 *
 * @param onAnswer called with the run that answers the request.
 * @throws GatewayError with the run's id if the run failed, was cancelled, or its outcome is unknown.
 */
export async function readReply(
  start: () => Promise<StartedRun>,
  signal: AbortSignal,
  onAnswer: (run: StartedRun) => void,
): Promise<Reply> {
  for (let starts = 1; ; starts += 1) {
    const run = await start();
    const end = await readEnd(run, signal);
    const isInterrupted = end instanceof GatewayError && end.code === 'interrupted';
    if (isInterrupted && run.isReplayed && starts < MAX_STARTS) continue;
    onAnswer(run);
    if (end instanceof GatewayError) throw end;
    return end;
  }
}

const MAX_STARTS = 3;

/** @returns the reply, or the error that explains its absence. */
async function readEnd(
  { id: runId, read }: StartedRun,
  signal: AbortSignal,
): Promise<Reply | GatewayError> {
  let response = '';
  let sessionId: string | null = null;
  try {
    for await (const event of read(signal, { isImpatient: true })) {
      switch (event.type) {
        case 'RunStarted':
          ({ sessionId } = event);
          response = '';
          break;
        case 'TextDelta':
          response += event.delta;
          break;
        case 'ChatDone': {
          const { latencyMs, tokensUsed, toolsCalled } = event;
          return { response, sessionId, runId, latencyMs, tokensUsed, toolsCalled };
        }
        case 'ChatFailed':
          return new GatewayError(event.code, event.message, { runId });
        case 'ChatCancelled':
          return new GatewayError('internal_error', 'The run was cancelled.', { runId });
      }
    }
  } catch (cause) {
    if (!isOutage(cause)) throw cause;
    return endUnknown(runId, cause);
  }
  return endUnknown(runId);
}

function endUnknown(runId: string, cause?: unknown): GatewayError {
  const message =
    'The database did not answer in time, so the outcome of the run is not known yet. Read the run again in a few seconds.';
  return new GatewayError('internal_error', message, { runId, cause });
}
