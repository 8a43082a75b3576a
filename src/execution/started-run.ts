import { GatewayError } from '../errors/errors.ts';
import type {
  Channel,
  Entrance,
  Environment,
  OnDisconnect,
  Plan,
} from '../generated/prisma/client.ts';
import { fingerprintOf, type Repeatable } from '../idempotency/key.ts';
import type { Idempotency } from '../idempotency/runs.ts';
import type { ActiveRun } from '../runs/life/active-runs.ts';
import type { Replay } from '../runs/life/replay.ts';
import type { ReadOptions, RunEvent } from '../runs/record/events.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import type { JsonObject } from '../text/json.ts';

/** The validated fields that every request for a run has. */
export type RunRequest = {
  accountId: string;
  /** The key that requests the run, itself or by a session token. Null for a user of a channel. */
  keyId: string | null;
  /** The account's plan, which limits its active runs. */
  plan: Plan;
  botId: string;
  /** The cache version of the bot, if the caller has read it. */
  botVersion?: string | undefined;
  environment: Environment;
  channel: Channel;
  /** The interface that the client uses. Null for a run that no client requests. */
  entrance: Entrance | null;
  context: JsonObject | undefined;
  /** Messages to send to the model before the request's own, after the session's history. Oldest first. */
  history?: HistoryMessage[] | undefined;
  /** The JSON Schema of a structured reply, in place of the definition's output. */
  outputSchema?: JsonObject | undefined;
  /** Whether the model is offered no tools. */
  withoutTools?: boolean | undefined;
  /** Default: `CONTINUE` with an idempotency key, else `CANCEL`. */
  onDisconnect: OnDisconnect | undefined;
  /** For 24 hours, a repeat of the request gets the first request's run. */
  idempotencyKey: string | undefined;
  /** Whether to find the run of an earlier request with this key and to begin none. */
  replayOnly?: boolean | undefined;
  /** The scope of the key, from `namespaceOf`. */
  idempotencyNamespace: string;
  /** The scope of the key in version 0.2, from `formerNamespaceOf`. */
  formerIdempotencyNamespace?: string | undefined;
  /** The request's `traceparent` header, unchecked. The run's trace continues it. */
  traceparent: unknown;
  /** The name of the client for the run's trace, see `readClientName`. */
  client?: string | undefined;
};

/** The run that answers a request: a new one, or the run of an earlier request with the same idempotency key. */
export type StartedRun = {
  id: string;
  /** Whether an earlier request created the run. */
  isReplayed: boolean;
  /** Reads the run's events from the first. */
  read(signal: AbortSignal, options?: ReadOptions): AsyncIterable<RunEvent>;
};

/** The run that this process executes for a request. */
export function startedRun({ id, read }: ActiveRun): StartedRun {
  return { id, isReplayed: false, read: (signal, options) => read(signal, 0, options) };
}

/** The runs of earlier requests with the same idempotency key. */
export type EarlierRuns = {
  /**
   * @returns `undefined` if the key is free, or if there is no key.
   * @throws the errors of `Idempotency.findRun`.
   */
  find(request: Repeatable | undefined, signal: AbortSignal): Promise<StartedRun | undefined>;
  /** As `find`, for a request that must begin no run. @throws GatewayError `run_not_found` if there is no earlier run. */
  get(request: Repeatable | undefined, signal: AbortSignal): Promise<StartedRun>;
  /** As `find`, for a request that cannot begin a run now. @throws the refusal if there is no earlier run. */
  findOrThrow(
    refusal: unknown,
    request: Repeatable | undefined,
    signal: AbortSignal,
  ): Promise<StartedRun>;
};

export function createEarlierRuns({
  idempotency,
  replay,
}: {
  idempotency: Pick<Idempotency, 'findRun'>;
  replay: Replay;
}): EarlierRuns {
  const find: EarlierRuns['find'] = async (request, signal) => {
    const id = request && (await idempotency.findRun(request, signal));
    return id === undefined ? undefined : { ...storedRun(id, replay), isReplayed: true };
  };
  const findOrThrow: EarlierRuns['findOrThrow'] = async (refusal, request, signal) => {
    const earlier = refusal instanceof GatewayError && (await find(request, signal));
    if (earlier) return earlier;
    throw refusal;
  };
  const get: EarlierRuns['get'] = (request, signal) => {
    const message = 'There is no run with this idempotency key.';
    return findOrThrow(new GatewayError('run_not_found', message), request, signal);
  };
  return { find, get, findOrThrow };
}

/** The run of a request, which any process may execute. */
export function storedRun(id: string, replay: Replay): StartedRun {
  return { id, isReplayed: false, read: (...reader) => replay.read(id, 0, ...reader) };
}

/** @returns `undefined` for a request without an idempotency key. */
export function repeatableOf(
  {
    accountId,
    idempotencyNamespace: namespace,
    formerIdempotencyNamespace: formerNamespace,
    idempotencyKey: key,
  }: RunRequest,
  operation: string,
  input: unknown[],
): Repeatable | undefined {
  if (key === undefined) return undefined;
  const fingerprint = fingerprintOf(operation, input);
  return { accountId, namespace, formerNamespace, key, fingerprint };
}

/**
 * What identifies a repeat of a request besides its input. Without history and with tools, it is the same as in earlier
 * versions, whose keys live for 24 hours.
 */
export function optionsOf({ history, outputSchema, withoutTools }: RunRequest): unknown[] {
  if (history || withoutTools)
    return [outputSchema ?? null, history ?? null, withoutTools ?? false];
  return outputSchema ? [outputSchema] : [];
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
