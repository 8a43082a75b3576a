import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import { newClaim } from '../idempotency/claim.ts';
import type { Idempotency } from '../idempotency/runs.ts';
import type { ActiveRuns, Slot } from '../runs/life/active-runs.ts';
import type { Replay } from '../runs/life/replay.ts';
import type { Runs } from '../runs/life/runs.ts';
import type { Queue } from '../runs/queue/queue.ts';
import type { JsonObject } from '../text/json.ts';
import type { RunExecutor } from './run-executor.ts';
import type { TraceRun } from './run-trace.ts';
import {
  type EarlierRuns,
  onDisconnectOf,
  optionsOf,
  type RunRequest,
  repeatableOf,
  type StartedRun,
  startedRun,
  storedRun,
} from './started-run.ts';

/** A validated prompt to a bot, outside any conversation. */
export type ExecuteRequest = RunRequest & {
  prompt: string;
  /** The caller's annotations, stored with the run. */
  metadata: JsonObject | undefined;
  /** The run whose settled tool call the prompt is about. */
  causedById?: string | undefined;
  /** Whether to enqueue the run and answer at once. `onDisconnect` has no effect then. */
  background: boolean;
};

/**
 * Starts a run without a session: no history, no memory. Source: the API document, "Execute".
 *
 * @throws GatewayError `bot_not_deployed`, `idempotency_conflict`, `rate_limit_exceeded`, or `run_not_found` with
 *   `replayOnly`; then this request created no run and holds no claim on its key.
 */
export type StartExecute = (request: ExecuteRequest, signal: AbortSignal) => Promise<StartedRun>;

export function createStartExecute({
  activeRuns,
  activeDeployments,
  runs,
  queue,
  idempotency,
  earlierRuns,
  replay,
  traceRun,
  runExecutor,
}: {
  activeRuns: Pick<ActiveRuns, 'acquireSlot'>;
  activeDeployments: ActiveDeployments;
  runs: Pick<Runs, 'begin'>;
  queue: Pick<Queue, 'enqueue'>;
  idempotency: Pick<Idempotency, 'notify'>;
  earlierRuns: EarlierRuns;
  replay: Replay;
  traceRun: TraceRun;
  runExecutor: RunExecutor;
}): StartExecute {
  const start: StartExecute = async (request, signal) => {
    const startedAt = performance.now();
    const { botId, botVersion, environment, context, traceparent, client } = request;
    const { history, outputSchema, withoutTools } = request;
    const repeatable = repeatableOf(request, 'execute', inputOf(request));
    if (request.replayOnly) return earlierRuns.get(repeatable, signal);
    await using undo = new AsyncDisposableStack();

    let slot: Slot;
    let deployment: RunningDeployment;
    try {
      slot = undo.adopt(activeRuns.acquireSlot(request), ({ release }) => release());
      deployment = await activeDeployments.find(botId, environment, botVersion);
    } catch (error) {
      // A repeat gets the earlier run even if no run can begin now.
      await undo.disposeAsync();
      return earlierRuns.findOrThrow(error, repeatable, signal);
    }

    const claim = repeatable && newClaim(repeatable);
    const run = { ...runOf(request), onDisconnect: onDisconnectOf(request) };
    const { trace, columns } = traceRun({ ...run, client }, deployment, traceparent);
    const outcome = await runs.begin({ ...run, ...columns }, { claim });
    if (outcome.kind !== 'begun') {
      await undo.disposeAsync();
      return (await earlierRuns.find(repeatable, signal)) ?? start(request, signal);
    }

    // From here on, the run owns the slot.
    undo.move();
    if (claim) idempotency.notify(claim);
    const { begun, clock } = outcome;
    const options = { history, outputSchema, withoutTools };
    const task = { deployment, message: run.input, context, ...options };
    const labels = { kind: run.kind, channel: run.channel };
    const { onDisconnect } = run;
    const job = { begun, clock, labels, trace, task, startedAt, onDisconnect };
    return startedRun(runExecutor.launch(slot, job));
  };

  const enqueue: StartExecute = async (request, signal) => {
    const { accountId, plan, botId, botVersion, environment } = request;
    const { outputSchema, withoutTools, client } = request;
    const repeatable = repeatableOf(request, 'execute in the background', inputOf(request));
    if (request.replayOnly) return earlierRuns.get(repeatable, signal);
    const claim = repeatable && newClaim(repeatable);
    const traceparent = String(request.traceparent ?? '') || undefined;
    const ofWorker = { accountId, plan, traceparent, client, outputSchema, withoutTools };
    const run = { ...runOf(request), ...ofWorker };
    let added: Awaited<ReturnType<Queue['enqueue']>>;
    try {
      // Only checks that the bot is deployed: the run uses the deployment that is active when a worker takes it.
      await activeDeployments.find(botId, environment, botVersion);
      added = await queue.enqueue(run, claim);
    } catch (error) {
      // A repeat gets the earlier run even if the queue is full.
      return earlierRuns.findOrThrow(error, repeatable, signal);
    }
    if (added.kind === 'keyTaken')
      return (await earlierRuns.find(repeatable, signal)) ?? enqueue(request, signal);
    if (claim) idempotency.notify(claim);
    return storedRun(added.id, replay);
  };

  return (request, signal) => (request.background ? enqueue : start)(request, signal);
}

function runOf(request: ExecuteRequest) {
  const { botId, environment, channel, entrance, keyId, causedById } = request;
  const { prompt, context, history, metadata } = request;
  const kind = 'EXECUTE' as const;
  const origin = { botId, environment, channel, entrance, kind, keyId, causedById };
  return { ...origin, input: prompt, context, history, metadata };
}

/** What identifies a repeat of the request. */
function inputOf(request: ExecuteRequest): unknown[] {
  const { botId, environment, prompt, context, metadata } = request;
  const input = [botId, environment, prompt, context ?? null, metadata ?? null];
  return [...input, ...optionsOf(request)];
}
