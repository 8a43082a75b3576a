import type { ActiveDeployments } from '../deployments/active.ts';
import { isJsonObject } from '../json.ts';
import type { Log } from '../log.ts';
import type { Admission, LiveRuns } from '../runs/live.ts';
import { QUEUE_CHANNEL, type Queue, type TakenRun } from '../runs/queue.ts';
import { looks } from '../storage/looks.ts';
import { persist } from '../storage/persist.ts';
import type { PubSub } from '../storage/pubsub.ts';
import type { Worker } from './work.ts';

/** Does the runs of the queue, until it is closed: takes none any more then, and leaves those at work to `LiveRuns`. */
export type Background = { close(): Promise<void> };

/** So many runs of the queue are at work in one process. */
const MAX_AT_WORK = 10;

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
  let atWork = 0;

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
    const run = await queue.take().catch((error) => {
      place.leave();
      throw error;
    });
    if (run === undefined) {
      place.leave();
      return false;
    }
    atWork += 1;
    void work(place, run).finally(() => {
      atWork -= 1;
      if (atWork === MAX_AT_WORK - 1) pubsub.publish(QUEUE_CHANNEL, '');
    });
    return true;
  };

  const watch = async () => {
    for await (const _ of looks(pubsub, QUEUE_CHANNEL, closed.signal)) {
      try {
        while (atWork < MAX_AT_WORK && !closed.signal.aborted && (await takeNext()));
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
