import { pollOnNotify } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Log } from '../observability/log.ts';
import type { Changes } from '../runs/record/changes.ts';
import { WORK_CHANNEL } from '../runs/tool-calls/ask.ts';
import type { Approvals } from './approvals.ts';
import type { Settle } from './settle.ts';
import type { Work } from './work.ts';

/** The most approvals whose work one process does at a time. Most of them wait for a model. */
const SLOTS = 20;
/** The interval between two looks for expired approvals and for work whose notification was lost. */
const POLL_EVERY_MS = 5_000;

/** Does what follows decisions, and ends approvals that nobody decided in time. */
export function startWorker({
  work,
  settle,
  approvals,
  notifyRun,
  pubsub,
  log,
}: {
  work: Work;
  settle: Settle;
  approvals: Pick<Approvals, 'notify'>;
  /** Notifies the subscribers of a run. */
  notifyRun: Changes['notify'];
  pubsub: PubSub;
  log: Log;
}): AsyncDisposable {
  const closed = new AbortController();
  const active = new Map<string, Promise<void>>();

  const perform = async (id: string) => {
    try {
      const followUpId = await settle(id, closed.signal);
      const settled = await work.settle(id, followUpId);
      if (!settled) return;
      approvals.notify(settled);
      // The conversation no longer waits. Its followers had the end of the run before that.
      notifyRun({ id: followUpId ?? settled.runId, botId: settled.botId });
    } catch (err) {
      const isAgain = await work.release(id).catch(() => true);
      if (closed.signal.aborted) return;
      const next = isAgain ? 'It will be repeated.' : 'There is no further attempt.';
      log.error({ toolCallId: id, err }, `The work after a decision failed. ${next}`);
    }
  };

  const poll = async () => {
    if (!(await work.isDue())) return;
    for (const expired of await work.expire()) approvals.notify(expired);
    for (const id of await work.take(SLOTS - active.size)) {
      const done = perform(id).finally(() => {
        active.delete(id);
        pubsub.publish(WORK_CHANNEL, '');
      });
      active.set(id, done);
    }
  };

  const watch = async () => {
    const options = { everyMs: POLL_EVERY_MS };
    for await (const _ of pollOnNotify(pubsub, WORK_CHANNEL, closed.signal, options)) {
      if (active.size >= SLOTS) continue;
      await poll().catch((err) => {
        log.error({ err }, 'The approvals could not be read. They will be read again.');
      });
    }
  };
  const watching = watch();

  return {
    async [Symbol.asyncDispose]() {
      closed.abort();
      await watching;
      await Promise.all(active.values());
    },
  };
}
