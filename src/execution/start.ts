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

/** What every request for a run says, checked. */
export type RunRequest = {
  accountId: string;
  /** The account's, which limits how many runs it has at once. */
  plan: Plan;
  botId: string;
  /** The bot's version, where the caller knows it. */
  botVersion?: string | undefined;
  environment: Environment;
  channel: Channel;
  context: JsonObject | undefined;
  /** By default the run goes on without its client where there is an idempotency key, and stops otherwise. */
  onDisconnect: OnDisconnect | undefined;
  /** The same request again is answered by the first one's run, for 24 hours. */
  idempotencyKey: string | undefined;
  /** The callers that share the key, as `namespaceOf` names them. */
  idempotencyNamespace: string;
  /** The caller's own trace, which the run's goes on with; as it came. */
  traceparent: unknown;
};

/** A run that answers a request: begun for it, or by the same request before. */
export type StartedRun = {
  id: string;
  /** Whether an earlier request with the same idempotency key began it. */
  isReplayed: boolean;
  /** Its events from the first on. */
  read(signal: AbortSignal, options?: ReadOptions): AsyncIterable<RunEvent>;
};

/** The reply of a run as a whole. */
export type Reply = {
  response: string;
  /** None of a run outside of conversations. */
  sessionId: string | null;
  runId: string;
  /** Milliseconds from taking the request, waiting for the turn included, to the end of the reply. */
  latencyMs: number;
  tokensUsed: number;
  /** In call order, without repeats. */
  toolsCalled: string[];
};

/** The writes that belong to a run's beginning, for its transaction where that is one of several steps. */
export type BeginningWrites = (
  runId: string,
  tx?: Prisma.TransactionClient,
) => Prisma.PrismaPromise<unknown>[];

/**
 * Begins a run for a request, once however often it is sent.
 *
 * @param begin begins it, with the writes that belong to its beginning.
 * @throws whatever `begin` does, and as `Idempotency.claim`; then no run has begun, and the key is free again.
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

/** The same for a run that begins at once and here: with a place among those at work. */
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

/** A run with an idempotency key goes on without its client, who may come back for it. */
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
 * Starts a run and reads it to its end. One that answers a repeated request and is interrupted has released its
 * idempotency key: the request then starts anew.
 *
 * @param onAnswer called with the run that answers.
 * @throws GatewayError with the run's id where it failed or was stopped, or its end is not known.
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

/** @returns the reply, or why there is none. */
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
          return new GatewayError('internal_error', 'The run was stopped.', { runId });
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
    'The database did not answer in time, so the end of the run is not known yet. Read the run again in a few seconds.';
  return new GatewayError('internal_error', message, { runId, cause });
}
