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

/** A run to do. */
export type Job = {
  run: Omit<NewRun, 'deploymentId' | 'model' | 'traceId' | 'sessionId'>;
  deployment: RunningDeployment;
  task: Omit<AgentTask, 'deployment' | 'trace'>;
  /** The caller's own trace, as it came. */
  traceparent: unknown;
  /** When the caller asked, by `performance.now()`. */
  startedAt: number;
  /** What the run leaves elsewhere; nothing by default. */
  effects?: RunEffects;
};

/** A run of the queue to do. */
export type TakenJob = Omit<Job, 'run'> & { run: TakenRun };

/** What a run leaves beside its own row. */
export type RunEffects = {
  /** What is written along with its beginning, if anything is. */
  begin?: ((runId: string) => Prisma.PrismaPromise<unknown>[]) | undefined;
  /** In place of its end, where the process has no more time for it. @returns false: it is to be ended. */
  putBack?(run: BegunRun, record: EventRecord): Promise<boolean>;
  /** What the session's turn that it is adds to the conversation, if anything. */
  turn?(outcome: RunOutcome, said: HistoryMessage[]): HistoryMessage[] | undefined;
  /** After the end of its turn is stored. */
  ended?(session: SessionState): void;
};

/** Does the work of runs, of every kind. */
export type Worker = {
  /**
   * Stores that a run has begun, and leaves it to itself. Its end is stored whatever happens, and its readers get the
   * end that its row has.
   */
  start(place: Admission, job: Job): Promise<LiveRun>;
  /**
   * The same for a run that is the turn of a session.
   *
   * @param session the turn is its, under a lease of this id.
   * @returns nothing where the turn is not free; then no run has begun.
   */
  startTurn(
    place: Admission,
    job: Job,
    session: NewSession,
    leaseId: string,
  ): Promise<{ run: LiveRun; session: SessionState } | undefined>;
  /** The same for a run that has waited, in the first attempt or a further one. */
  resume(place: Admission, job: TakenJob): Promise<LiveRun>;
};

const NO_USAGE = { promptTokens: 0, completionTokens: 0, tokensEstimated: false };

/** A run under way. */
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
    const stopCheckpoints = keepCheckpoints(all);
    try {
      const loop = await agent.begin({ ...task, deployment, trace }, signal);
      ({ result } = loop);
      await loop.run(events.append);
    } catch (error) {
      failure = toGatewayError(error);
      log.warn({ runId: begun.id, code: failure.code, err: failure.cause }, failure.message);
    }
    const since = performance.now();
    await stopCheckpoints();
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

  /** Where it cannot be told whether that is done, the run is left to be found without its owner. */
  const putBack = async ({ begun, effects }: Work, { response, events }: RunOutcome) => {
    try {
      return await effects?.putBack?.(begun, { response, events });
    } catch (err) {
      log.error({ runId: begun.id, err }, 'A run could not be put back.');
      return true;
    }
  };

  /** Begins the trace of a run. @returns it, and what it makes known of the run. */
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
