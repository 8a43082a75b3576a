import { startPollingWorker } from '../coordination/polling-worker.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { EVALUATION_WORK } from '../deployments/evaluation-work.ts';
import type { Log } from '../observability/log.ts';
import type { Execute } from './execute.ts';
import type { Gates } from './gates.ts';
import type { Work } from './work.ts';

/** Evaluations that one process executes at a time, each of another account. */
const SLOTS = 8;

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
  const active = new Map<string, Promise<void>>();

  const poll = async (signal: AbortSignal) => {
    await gates.advance(signal);
    while (active.size < SLOTS && !signal.aborted) {
      const taken = await work.take([...active.keys()]);
      if (!taken) return;
      const { id } = taken;
      const done = execute(taken, signal)
        .catch((err) => {
          log.error({ evaluationId: id, err }, 'An evaluation was interrupted.');
        })
        .finally(() => {
          active.delete(id);
          pubsub.publish(EVALUATION_WORK, '');
        });
      active.set(id, done);
    }
  };

  return startPollingWorker(poll, {
    pubsub,
    channel: EVALUATION_WORK,
    everyMs: null,
    log,
    problem: 'The evaluations could not be read. They will be read again.',
    active,
  });
}
