import { startPollingWorker } from '../coordination/polling-worker.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Log } from '../observability/log.ts';
import type { Changes } from '../runs/record/changes.ts';
import { WORK_CHANNEL } from '../runs/tool-calls/ask.ts';
import { persist } from '../storage/persist.ts';
import type { Approvals } from './approvals.ts';
import type { Settle } from './settle.ts';
import type { Work } from './work.ts';

/** The most approvals whose work one process does at a time. Most of them wait for a model. */
const SLOTS = 20;

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
  const active = new Map<string, Promise<void>>();

  const perform = async (id: string, signal: AbortSignal) => {
    try {
      const followUpId = await settle(id, signal);
      const settled = await work.settle(id, followUpId);
      if (!settled) return;
      approvals.notify(settled);
      // The conversation no longer waits. Its followers had the end of the run before that.
      notifyRun({ id: followUpId ?? settled.runId, botId: settled.botId });
    } catch (err) {
      let isOver = false;
      const release = async () => {
        isOver = await work.release(id);
      };
      await persist(release, { log, what: `The release of the approval ${id}` });
      if (signal.aborted) return;
      const next = isOver ? 'There is no further attempt.' : 'It will be repeated.';
      log.error({ toolCallId: id, err }, `The work after a decision failed. ${next}`);
    }
  };

  const poll = async (signal: AbortSignal) => {
    if (active.size >= SLOTS || !(await work.isDue())) return;
    for (const expired of await work.expire()) approvals.notify(expired);
    for (const id of await work.take(SLOTS - active.size)) {
      const done = perform(id, signal).finally(() => {
        active.delete(id);
        pubsub.publish(WORK_CHANNEL, '');
      });
      active.set(id, done);
    }
  };

  return startPollingWorker(poll, {
    pubsub,
    channel: WORK_CHANNEL,
    everyMs: null,
    log,
    problem: 'The approvals could not be read. They will be read again.',
    active,
  });
}
