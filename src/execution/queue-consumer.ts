import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import type { Log } from '../observability/log.ts';
import type { ActiveRuns, Slot } from '../runs/life/active-runs.ts';
import type { Runs } from '../runs/life/runs.ts';
import { QUEUE_CHANNEL, type Queue, type TakenRun } from '../runs/queue/queue.ts';
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

  /** An account holds at most as many slots as are free: 10 when it is alone, so that the next account finds one. */
  const fullAccounts = () => {
    const free = SLOTS - active.size;
    const byAccount = Map.groupBy(active, ({ accountId }) => accountId);
    return [...byAccount].flatMap(([id, runs]) => (runs.length < free ? [] : [id]));
  };

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
    const task = { deployment, message, context, outputSchema };
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

  /** @returns whether it took a run. */
  const takeNext = async (): Promise<boolean> => {
    const slot = activeRuns.acquireSlot();
    const options = { fullAccounts: fullAccounts(), takesRetries: takesRetries() };
    const run = await queue.take(options).catch((error) => {
      slot.release();
      throw error;
    });
    if (run === undefined) {
      slot.release();
      return false;
    }
    active.add(run);
    void execute(slot, run).finally(() => {
      active.delete(run);
      // This frees one of the account's slots: another process may hold back only runs of this account.
      pubsub.publish(QUEUE_CHANNEL, '');
    });
    return true;
  };

  const watch = async () => {
    for await (const _ of pollOnNotify(pubsub, QUEUE_CHANNEL, closed.signal)) {
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
