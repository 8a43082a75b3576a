import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { EVALUATION_WORK } from '../deployments/evaluation-work.ts';
import type { Log } from '../observability/log.ts';
import type { Execute } from './execute.ts';
import type { Gates } from './gates.ts';
import type { Work } from './work.ts';

/** Evaluations that one process executes at a time, each of another account. */
const SLOTS = 8;
/** A safety net: recovery wakes the workers every 2 seconds while work is due. */
const POLL_EVERY_MS = 60_000;

/** Executes evaluations, and works on gates, until it is disposed of. Those in progress then continue in another process. */
export function startWorker({
  work,
  execute,
  gates,
  pubsub,
  log,
}: {
  work: Pick<Work, 'take'>;
  execute: Execute;
  gates: Gates;
  pubsub: PubSub;
  log: Log;
}): AsyncDisposable {
  const closed = new AbortController();
  const active = new Set<Promise<void>>();

  const poll = async () => {
    await gates.advance();
    while (active.size < SLOTS && !closed.signal.aborted) {
      const taken = await work.take();
      if (!taken) return;
      const done = execute(taken, closed.signal)
        .catch((err) => {
          log.error({ evaluationId: taken.id, err }, 'An evaluation was interrupted.');
        })
        .finally(() => {
          active.delete(done);
          pubsub.publish(EVALUATION_WORK, '');
        });
      active.add(done);
    }
  };

  const watch = async () => {
    const options = { everyMs: POLL_EVERY_MS };
    for await (const _ of pollOnNotify(pubsub, EVALUATION_WORK, closed.signal, options)) {
      await poll().catch((err) => {
        log.error({ err }, 'The evaluations could not be read. They will be read again.');
      });
    }
  };
  const watching = watch();

  return {
    async [Symbol.asyncDispose]() {
      closed.abort();
      await watching;
      await Promise.all(active);
    },
  };
}
