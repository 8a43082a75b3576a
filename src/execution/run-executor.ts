import type { Agent, AgentTask } from '../agent/agent.ts';
import type { LoopResult } from '../agent/loop.ts';
import type { RunningDeployment } from '../deployments/active.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import {
  type Admission,
  type LiveRun,
  NO_MORE_TIME,
  type StartOptions,
} from '../runs/active-runs.ts';
import { type EventRecord, recordEvents } from '../runs/event-codec.ts';
import type { EventLog } from '../runs/events.ts';
import type { TakenRun } from '../runs/queue.ts';
import type { BegunRun, NewRun, RunOutcome, Runs } from '../runs/runs.ts';
import { OWN_ATTRIBUTE } from '../runs/semconv.ts';
import type { Trace, Tracing } from '../runs/trace.ts';
import type { HistoryMessage, NewSession, SessionState } from '../sessions/history.ts';
import { MAX_INT } from '../storage/int.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createStoreEnd, type EndingRun } from './run-end.ts';

/** A run to execute. */
export type Job = {
  run: Omit<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>;
  deployment: RunningDeployment;
  task: Omit<AgentTask, 'deployment' | 'trace'>;
  /** The request's `traceparent` header, unchecked. */
  traceparent: unknown;
  /** When the request arrived, by `performance.now()`. */
  startedAt: number;
  /** None by default. */
  effects?: RunEffects;
};

/** A queued run to execute. */
export type TakenJob = Omit<Job, 'run'> & { run: TakenRun };

/** Effects of a run outside its own row. */
export type RunEffects = {
  /** Writes for the transaction that creates the run. */
  begin?: ((runId: string) => Prisma.PrismaPromise<unknown>[]) | undefined;
  /** Requeues the run at shutdown instead of finishing it. @returns false if the run must be finished. */
  putBack?(run: BegunRun, record: EventRecord): Promise<boolean>;
  /** The messages that the run's turn adds to the conversation; `undefined` adds none. */
  turn?(outcome: RunOutcome, said: HistoryMessage[]): HistoryMessage[] | undefined;
  /** Called after the end of the turn is stored. */
  ended?(session: SessionState): void;
};

/** Executes runs of every kind. */
export type Worker = {
  /**
   * Stores a new run and executes it in the background. The run always gets a terminal event, and its readers receive
   * the one that its row holds.
   */
  start(place: Admission, job: Job): Promise<LiveRun>;
  /**
   * As `start`, for a run that is a session's turn. Acquires the turn under `leaseId`.
   *
   * @returns `undefined` if the turn is not free; then no run was created.
   */
  startTurn(
    place: Admission,
    job: Job,
    session: NewSession,
    leaseId: string,
  ): Promise<{ run: LiveRun; session: SessionState } | undefined>;
  /** As `start`, for the first or a further attempt at a queued run. */
  resume(place: Admission, job: TakenJob): Promise<LiveRun>;
};

const NO_USAGE = { promptTokens: 0, completionTokens: 0, tokensEstimated: false };

/** A run in progress. */
type Work = Omit<Job, 'run' | 'traceparent'> & {
  begun: BegunRun;
  trace: Trace;
  events: EventLog;
};

export function createWorker({
  agent,
  runs,
  tracing,
  log,
}: {
  agent: Agent;
  runs: Runs;
  tracing: Tracing;
  log: Log;
}): Worker {
  const keepCheckpoints = createCheckpoints({ runs, log });
  const storeEnd = createStoreEnd({ runs, log });

  const work = async (all: Work, signal: AbortSignal) => {
    const { begun, deployment, task, trace, events, effects, startedAt } = all;
    let result: LoopResult | undefined;
    let failure: GatewayError | undefined;
    events.append({ type: 'RunStarted', runId: begun.id, sessionId: task.sessionId ?? null });
    const checkpoints = keepCheckpoints(all);
    try {
      const loop = await agent.begin({ ...task, deployment, trace }, signal);
      ({ result } = loop);
      await loop.run(events.append);
    } catch (error) {
      failure = toGatewayError(error);
      log.warn({ runId: begun.id, code: failure.code, err: failure.cause }, failure.message);
    }
    const since = performance.now();
    await checkpoints[Symbol.asyncDispose]();
    const usage = result?.usage() ?? NO_USAGE;
    const errorType = failure?.code ?? (signal.aborted ? 'cancelled' : undefined);
    const outcome: RunOutcome = {
      status: failure ? 'FAILED' : signal.aborted ? 'CANCELLED' : 'COMPLETED',
      error: failure,
      latencyMs: Math.min(Math.round(performance.now() - startedAt), MAX_INT),
      toolsCalled: result?.toolsCalled ?? [],
      ...recordEvents(events.events),
      ...usage,
      spans: trace.finish({ ...usage, errorType }),
    };
    if (signal.reason === NO_MORE_TIME && (await putBack(all, outcome))) return;
    const { session } = task;
    const turnOf: EndingRun['turnOf'] = (...end) =>
      session && { session, messages: effects?.turn?.(...end) };
    const said = result?.messages ?? [];
    const end = await storeEnd({ begun, trace, events, outcome, said, turnOf, since }, signal);
    if (session) effects?.ended?.(session);
    if (end) events.append(end);
  };

  /** If we cannot tell whether the requeue committed, leave the run to recovery. */
  const putBack = async ({ begun, effects }: Work, { response, events }: RunOutcome) => {
    try {
      return await effects?.putBack?.(begun, { response, events });
    } catch (err) {
      log.error({ runId: begun.id, err }, 'Run could not be requeued. Recovery will handle it.');
      return true;
    }
  };

  /** @returns the new trace, and the run's columns that depend on it and on the deployment. */
  const beginTrace = (
    { botId, environment, channel }: Pick<NewRun, 'botId' | 'environment' | 'channel'>,
    { deployment, task, traceparent }: Pick<Job, 'deployment' | 'task' | 'traceparent'>,
  ) => {
    const { deploymentId, definition } = deployment;
    const model = agent.modelName(deployment);
    const sessionId = task.sessionId ?? null;
    const traced = { botId, deploymentId, environment, channel, sessionId, model };
    const trace = tracing.begin({ ...traced, agentName: definition.name }, traceparent);
    return { trace, columns: { deploymentId, model, sessionId, traceId: trace.id } };
  };

  const launch = (
    place: Admission,
    { trace, ...all }: Omit<Work, 'events'>,
    options: Omit<StartOptions, 'id' | 'botId'>,
  ) => {
    const { id, botId } = all.begun;
    trace.set({ [OWN_ATTRIBUTE.runId]: id });
    return place.start({ ...options, id, botId }, (events, signal) =>
      work({ ...all, trace, events }, signal),
    );
  };

  return {
    async start(place, { run, traceparent, ...job }) {
      const { trace, columns } = beginTrace(run, { ...job, traceparent });
      const begun = await runs.begin({ ...run, ...columns }, job.effects?.begin);
      return launch(place, { ...job, begun, trace }, run);
    },

    async startTurn(place, { run, traceparent, ...job }, newSession, leaseId) {
      const { trace, columns } = beginTrace(run, { ...job, traceparent });
      const limit = job.deployment.definition.history;
      const turn = { session: newSession, leaseId, limit };
      const started = await runs.beginTurn({ ...run, ...columns }, turn);
      if (!started) return undefined;
      const { begun, session, recollection } = started;
      const task = { ...job.task, session, recollection };
      return { run: launch(place, { ...job, task, begun, trace }, run), session };
    },

    async resume(place, { run: { begun, earlier, ...run }, traceparent, ...job }) {
      const { trace, columns } = beginTrace(
        { ...run, botId: begun.botId },
        { ...job, traceparent },
      );
      await runs.resume(begun, columns);
      return launch(place, { ...job, begun, trace }, { onDisconnect: 'CONTINUE', earlier });
    },
  };
}
