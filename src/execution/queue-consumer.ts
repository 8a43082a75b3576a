import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import type { Log } from '../observability/log.ts';
import type { ActiveRuns, Slot } from '../runs/life/active-runs.ts';
import type { Runs } from '../runs/life/runs.ts';
import { QUEUE_CHANNEL, type Queue, type TakenRun } from '../runs/queue/queue.ts';
import { readRequestHistory } from '../sessions/history.ts';
import { persist } from '../storage/persist.ts';
import { isJsonObject } from '../text/json.ts';
import type { RunExecutor } from './run-executor.ts';
import type { TraceRun } from './run-trace.ts';

/** The most background runs that one process executes at a time. */
const SLOTS = 20;

/** Executes queued runs. Its disposal only stops taking runs: `ActiveRuns` drains the active ones. */
export function startQueueConsumer({
  queue,
  runs,
  traceRun,
  runExecutor,
  activeRuns,
  activeDeployments,
  pubsub,
  log,
}: {
  queue: Queue;
  runs: Pick<Runs, 'resume'>;
  traceRun: TraceRun;
  runExecutor: RunExecutor;
  activeRuns: Pick<ActiveRuns, 'acquireSlot'>;
  activeDeployments: ActiveDeployments;
  pubsub: PubSub;
  log: Log;
}): AsyncDisposable {
  const closed = new AbortController();
  const active = new Set<TakenRun>();

  const held = () =>
    new Map(
      [...Map.groupBy(active, ({ accountId }) => accountId)].map(([id, runs]) => [id, runs.length]),
    );

  /** A retried run may have crashed its last process, so at most one retry is active here. */
  const takesRetries = () => ![...active].some(({ begun }) => begun.attempt > 1);

  const launch = async (slot: Slot, run: TakenRun) => {
    const { begun, clock, kind, channel, environment, input: message, traceparent, earlier } = run;
    const waitedMs = Math.max(clock.now() - clock.createdAt, 0);
    const startedAt = performance.now() - waitedMs;
    const deployment = await activeDeployments.find(begun.botId, environment);
    const { trace, columns } = traceRun({ ...run, botId: begun.botId }, deployment, traceparent);
    const { cancelRequested } = await runs.resume(begun, columns);
    const context = isJsonObject(run.context) ? run.context : undefined;
    const outputSchema = isJsonObject(run.outputSchema) ? run.outputSchema : undefined;
    const history = readRequestHistory(run.history);
    const { withoutTools } = run;
    const task = { deployment, message, context, history, outputSchema, withoutTools };
    const started = runExecutor.launch(slot, {
      begun,
      clock,
      labels: { kind, channel },
      trace,
      task,
      startedAt,
      onDisconnect: 'CONTINUE',
      earlier,
    });
    // The notification of a cancellation has no effect until the run is active in this process.
    if (cancelRequested) started.cancel();
    return started;
  };

  const execute = async (slot: Slot, run: TakenRun) => {
    try {
      const { ended } = await launch(slot, run);
      await ended;
    } catch (error) {
      slot.release();
      log.error({ runId: run.begun.id, err: error }, 'Queued run could not be started.');
      const release = () => queue.release(run.begun, error);
      await persist(release, { log, what: `The release of run ${run.begun.id}` });
    }
  };

  /** Takes as many runs as have a place. @returns whether it took any. */
  const takeNext = async (): Promise<boolean> => {
    const slots = Array.from({ length: SLOTS - active.size }, () => activeRuns.acquireSlot());
    const options = { free: slots.length, held: held(), takesRetries: takesRetries() };
    const taken = await queue.take(options).catch((error) => {
      for (const slot of slots) slot.release();
      throw error;
    });
    for (const [index, slot] of slots.entries()) {
      const run = taken[index];
      if (!run) {
        slot.release();
        continue;
      }
      active.add(run);
      void execute(slot, run).finally(() => {
        active.delete(run);
        // This frees one of the account's slots: another process may hold back only runs of this account.
        pubsub.publish(QUEUE_CHANNEL, '');
      });
    }
    return taken.length > 0;
  };

  const watch = async () => {
    // Looks notify the channel while a run is due.
    for await (const _ of pollOnNotify(pubsub, QUEUE_CHANNEL, closed.signal, { everyMs: null })) {
      try {
        while (active.size < SLOTS && !closed.signal.aborted && (await takeNext()));
      } catch (err) {
        log.error({ err }, 'Run queue could not be read. It will be retried.');
      }
    }
  };
  const watching = watch();

  return {
    async [Symbol.asyncDispose]() {
      closed.abort();
      await watching;
    },
  };
}
