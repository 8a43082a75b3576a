import { looks } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import { isJsonObject } from '../json.ts';
import type { Log } from '../log.ts';
import type { Admission, LiveRuns } from '../runs/active-runs.ts';
import { QUEUE_CHANNEL, type Queue, type TakenRun } from '../runs/queue.ts';
import { persist } from '../storage/persist.ts';
import type { Worker } from './run-executor.ts';

/** Does the runs of the queue, until it is closed: takes none any more then, and leaves those at work to `LiveRuns`. */
export type Background = { close(): Promise<void> };

/** How many background runs are active in one process. */
const SLOTS = 20;

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
}): Background {
  const closed = new AbortController();
  const active = new Set<TakenRun>();

  /** An account takes no more slots than it leaves free: 10 alone, fewer beside others, and some are left for the next. */
  const fullAccounts = () => {
    const free = SLOTS - active.size;
    const byAccount = Map.groupBy(active, ({ accountId }) => accountId);
    return [...byAccount].flatMap(([id, runs]) => (runs.length < free ? [] : [id]));
  };

  /** A run that may have killed its process has no other such run beside it. */
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

  /** Does a run to its end. */
  const work = async (place: Admission, run: TakenRun) => {
    try {
      const { ended } = await resume(place, run);
      await ended;
    } catch (error) {
      place.leave();
      log.error({ runId: run.begun.id, err: error }, 'A run could not be begun.');
      const leave = () => queue.leave(run.begun, error);
      await persist(leave, { log, what: `That nobody works on ${run.begun.id}` });
    }
  };

  /** @returns whether there was a run to take. */
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
      // Another process may have had no run but of this account, which was at its limit.
      pubsub.publish(QUEUE_CHANNEL, '');
    });
    return true;
  };

  const watch = async () => {
    for await (const _ of looks(pubsub, QUEUE_CHANNEL, closed.signal)) {
      try {
        while (active.size < SLOTS && !closed.signal.aborted && (await takeNext()));
      } catch (err) {
        log.error({ err }, 'The queue of runs could not be read.');
      }
    }
  };
  const watching = watch();

  return {
    async close() {
      closed.abort();
      await watching;
    },
  };
}
