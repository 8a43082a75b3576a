import type { Agent, AgentTask } from '../agent/agent.ts';
import type { LoopResult } from '../agent/loop.ts';
import { hasOwnServer } from '../agent/open-model.ts';
import { GatewayError } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import type { OnDisconnect } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import { type ActiveRun, NO_MORE_TIME, type Slot } from '../runs/life/active-runs.ts';
import type { RunClock } from '../runs/life/run-clock.ts';
import { MAX_ERROR_LENGTH, type RunOutcome, type Runs } from '../runs/life/runs.ts';
import type { Queue } from '../runs/queue/queue.ts';
import { INTERRUPTED } from '../runs/queue/recovery.ts';
import type { BegunRun } from '../runs/record/begun-run.ts';
import { recordEvents } from '../runs/record/event-codec.ts';
import type { EventLog, RunEvent } from '../runs/record/events.ts';
import type { PromptRecord } from '../runs/record/prompt-record.ts';
import { OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Ledger, OpenLedger } from '../runs/tool-calls/ledger.ts';
import type { Trace } from '../runs/trace/trace.ts';
import type { Turns } from '../sessions/turns.ts';
import { MAX_INT } from '../storage/int.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createStoreEnd, type EndingRun } from './run-end.ts';

/** A begun run to execute. */
export type Job = {
  begun: BegunRun;
  labels: EndingRun['labels'];
  trace: Trace;
  task: Omit<AgentTask, 'trace' | 'ledger'>;
  clock: RunClock;
  /** When the request arrived, by `performance.now()`. */
  startedAt: number;
  onDisconnect: OnDisconnect;
  /** The events of earlier attempts at a background run; `undefined` for a run that is never retried. */
  earlier?: readonly RunEvent[];
};

/** Executes begun runs of every kind. */
export type RunExecutor = {
  /**
   * Executes a run in the background. The run always gets a terminal event, and its readers receive the one that its
   * row holds. At shutdown a background run is requeued instead; a run of Telegram, and a run that
   * tells the outcome of an approval, fails as `interrupted`; every other one is cancelled.
   */
  launch(slot: Slot, job: Job): ActiveRun;
};

const NO_USAGE = { promptTokens: 0, completionTokens: 0, tokensEstimated: false };

export function createRunExecutor({
  agent,
  runs,
  queue,
  turns,
  keepsPrompts,
  openLedger,
  keepsToolTexts,
  observer,
  log,
}: {
  agent: Agent;
  runs: Runs;
  queue: Pick<Queue, 'requeue'>;
  turns: Pick<Turns, 'notify'>;
  /** Whether runs store their prompts. */
  keepsPrompts: boolean;
  openLedger: OpenLedger;
  /** Whether runs store the texts of their tool calls. */
  keepsToolTexts: boolean;
  observer: Observer;
  log: Log;
}): RunExecutor {
  const keepCheckpoints = createCheckpoints({ runs, keepsToolTexts, log });
  const storeEnd = createStoreEnd({ runs, observer, log });

  const execute = async (job: Job, events: EventLog, signal: AbortSignal) => {
    const { begun, clock, labels, task, trace, startedAt } = job;
    let result: LoopResult | undefined;
    let prompt: PromptRecord | undefined;
    let ledger: Ledger | undefined;
    let failure: GatewayError | undefined;
    const { createdAt, startedAt: at } = clock;
    events.append({ type: 'RunStarted', at, runId: begun.id, sessionId: task.sessionId ?? null });
    const checkpoints = keepCheckpoints({ begun, createdAt, trace, events });
    try {
      ledger = await openLedger(begun, { isFirst: isFirstAttempt(job), now: clock.now });
      const loop = await agent.begin({ ...task, trace, ledger }, signal);
      ({ result, prompt } = loop);
      await loop.run(events.append);
    } catch (error) {
      failure = toGatewayError(error);
      const { code, message, cause: err } = failure;
      // Only the operator can act on the errors of the operator's own model.
      const detail = hasOwnServer(task.deployment) ? undefined : failure.detail;
      log.warn({ runId: begun.id, code, ...(detail && { detail }), err }, message);
    }
    const isBackground = job.earlier !== undefined;
    const isOutOfTime = signal.reason === NO_MORE_TIME;
    // The next process answers the message of Telegram, or tells the outcome, with a new run.
    if (isOutOfTime && (labels.channel === 'TELEGRAM' || task.isNotice))
      failure ??= new GatewayError('interrupted', INTERRUPTED);
    const since = performance.now();
    await checkpoints[Symbol.asyncDispose]();
    const usage = result?.usage() ?? NO_USAGE;
    const errorType = failure?.code ?? (signal.aborted ? 'cancelled' : undefined);
    const outcome: RunOutcome = {
      status: failure ? 'FAILED' : signal.aborted ? 'CANCELLED' : 'COMPLETED',
      error: failure && {
        code: failure.code,
        detail: failure.detail,
        message: failure.message.slice(0, MAX_ERROR_LENGTH).toWellFormed(),
      },
      latencyMs: Math.min(Math.round(performance.now() - startedAt), MAX_INT),
      toolsCalled: result?.toolsCalled ?? [],
      output: failure || signal.aborted ? undefined : result?.output,
      model: result?.model,
      finishReason: result?.finishReason,
      prompt: keepsPrompts ? prompt : undefined,
      toolCalls: ledger?.unstored(),
      hasProgress: checkpoints.hasProgress,
      ...recordEvents(events.events, createdAt),
      ...usage,
      spans: trace.finish({ ...usage, errorType }),
    };
    if (isBackground && isOutOfTime && (await requeue(begun, outcome))) return;
    const newMessages = result?.messages ?? [];
    const deploymentId = labels.kind === 'DRAFT' ? null : task.deployment.deploymentId;
    const end = await storeEnd(
      { begun, labels, trace, events, outcome, task, deploymentId, newMessages, since },
      signal,
    );
    if (task.session) turns.notify(task.session);
    if (end) events.append(end);
  };

  /** If we cannot tell whether the requeue committed, leave the run to recovery. */
  const requeue = async (begun: BegunRun, { response, events, eventTimes }: RunOutcome) => {
    try {
      return await queue.requeue(begun, { response, events, eventTimes });
    } catch (err) {
      log.error({ runId: begun.id, err }, 'Run could not be requeued. Recovery will handle it.');
      return true;
    }
  };

  return {
    launch(slot, job) {
      const { begun, clock, trace, task, onDisconnect, earlier } = job;
      trace.set({ [OWN_ATTRIBUTE.runId]: begun.id });
      const { now } = clock;
      const { id, botId } = begun;
      const options = { id, botId, now, leaseId: task.session?.leaseId, onDisconnect, earlier };
      return slot.start(options, (events, signal) => execute(job, events, signal));
    },
  };
}

/** A background run that a process requeued at its shutdown begins again with the number of the interrupted attempt. */
function isFirstAttempt({ begun, earlier = [] }: Job): boolean {
  return begun.attempt <= 1 && earlier.length === 0;
}
