import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import { isJsonObject } from '../json.ts';
import type { Log } from '../log.ts';
import type { Admission, LiveRuns } from '../runs/active-runs.ts';
import { QUEUE_CHANNEL, type Queue, type TakenRun } from '../runs/queue.ts';
import { persist } from '../storage/persist.ts';
import type { Worker } from './run-executor.ts';

/** The most background runs that one process executes at a time. */
const SLOTS = 20;

/** Executes queued runs. Its disposal only stops taking runs: `LiveRuns` drains the active ones. */
export function startBackground({
  queue,
  worker,
  liveRuns,
  activeDeployments,
  pubsub,
  log,
}: {
  queue: Queue;
  worker: Worker;
  liveRuns: Pick<LiveRuns, 'admit'>;
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

  const resume = async (place: Admission, run: TakenRun) => {
    const { input: message, context, createdAt, traceparent } = run;
    const waited = Math.max(Date.now() - createdAt.getTime(), 0);
    return worker.resume(place, {
      run,
      deployment: await activeDeployments.find(run.begun.botId, run.environment),
      task: { message, context: isJsonObject(context) ? context : undefined },
      traceparent,
      startedAt: performance.now() - waited,
      effects: { putBack: queue.putBack },
    });
  };

  const work = async (place: Admission, run: TakenRun) => {
    try {
      const { ended } = await resume(place, run);
      await ended;
    } catch (error) {
      place.leave();
      log.error({ runId: run.begun.id, err: error }, 'Queued run could not be started.');
      const leave = () => queue.leave(run.begun, error);
      await persist(leave, { log, what: `The release of run ${run.begun.id}` });
    }
  };

  /** @returns whether it took a run. */
  const takeNext = async (): Promise<boolean> => {
    const place = liveRuns.admit();
    const options = { fullAccounts: fullAccounts(), takesRetries: takesRetries() };
    const run = await queue.take(options).catch((error) => {
      place.leave();
      throw error;
    });
    if (run === undefined) {
      place.leave();
      return false;
    }
    active.add(run);
    void work(place, run).finally(() => {
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
