import type { Repeatable } from '../accounts/idempotency.ts';
import { GatewayError } from '../errors.ts';
import type { Channel, Environment, OnDisconnect, Prisma } from '../generated/prisma/client.ts';
import type { JsonObject } from '../json.ts';
import type { RunEvent } from '../runs/events.ts';
import type { Idempotency } from '../runs/idempotency.ts';
import type { Admission, LiveRun, LiveRuns } from '../runs/live.ts';
import type { Replay } from '../runs/replay.ts';

/** What every request for a run says, checked. */
export type RunRequest = {
  accountId: string;
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
  read(signal: AbortSignal): AsyncIterable<RunEvent>;
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
      return { id, isReplayed: true, read: (reader) => replay.read(id, 0, reader) };
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
  repeatable: Repeatable | undefined,
  signal: AbortSignal,
  begin: (place: Admission, also: BeginningWrites | undefined) => Promise<LiveRun>,
) => Promise<StartedRun>;

export function createStart({ liveRuns, once }: { liveRuns: LiveRuns; once: Once }): Start {
  return (repeatable, signal, begin) =>
    once(repeatable, signal, async (also) => {
      const place = liveRuns.admit();
      try {
        const { id, read } = await begin(place, also);
        return { id, read };
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
 * Reads a run to its end.
 *
 * @throws GatewayError with the run's id where it failed or was stopped.
 */
export async function readReply(
  { id: runId, read }: StartedRun,
  signal: AbortSignal,
): Promise<Reply> {
  let response = '';
  let sessionId: string | null = null;
  for await (const event of read(signal)) {
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
        throw new GatewayError(event.code, event.message, { runId });
    }
  }
  throw new GatewayError('internal_error', 'The run was stopped.', { runId });
}
