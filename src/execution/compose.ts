import type { Agent } from '../agent/agent.ts';
import type { Lifetime } from '../async/lifetime.ts';
import type { Looks } from '../coordination/looks.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import type { Drafts } from '../deployments/drafts.ts';
import { createIdempotency } from '../idempotency/runs.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { ActiveRuns } from '../runs/life/active-runs.ts';
import type { Replay } from '../runs/life/replay.ts';
import { PROMPT_DAYS, TOOL_CALL_DAYS } from '../runs/life/retention.ts';
import type { Runs } from '../runs/life/runs.ts';
import type { Queue } from '../runs/queue/queue.ts';
import { createLedgers } from '../runs/tool-calls/ledger.ts';
import type { Tracing } from '../runs/trace/trace.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Turns } from '../sessions/turns.ts';
import type { Database } from '../storage/database.ts';
import { createForgottenSearch } from './forgotten.ts';
import { startQueueConsumer } from './queue-consumer.ts';
import { createRunExecutor } from './run-executor.ts';
import { createTraceRun } from './run-trace.ts';
import { createStartChat, type StartChat } from './start-chat.ts';
import { createStartExecute, type StartExecute } from './start-execute.ts';
import { createEarlierRuns } from './started-run.ts';

/** The composed domain of execution. */
export type ExecutionDomain = {
  startChat: StartChat;
  startExecute: StartExecute;
  /** Starts no more runs and waits for the active ones. It aborts the remaining ones after the limit. */
  drain(limitMs: number): Promise<void>;
};

type Parts = Pick<Database, 'prisma' | 'sql'> & {
  owner: Owner;
  looks: Looks;
  activeRuns: ActiveRuns;
  pubsub: PubSub;
  activeDeployments: ActiveDeployments;
  drafts: Drafts;
  sessions: Pick<Sessions, 'isDraft' | 'assertNotReserved'>;
  turns: Turns;
  runs: Runs;
  queue: Queue;
  replay: Replay;
  tracing: Tracing;
  agent: Agent;
  /** Days that the prompts of runs are stored; 0: not at all. */
  promptDays?: number | undefined;
  /** Days that the texts of tool calls are stored; 0: not at all. */
  toolCallDays?: number | undefined;
  observer: Observer;
  log: Log;
  lifetime: Lifetime;
};

export function createExecutionDomain({
  prisma,
  sql,
  owner,
  looks,
  activeRuns,
  pubsub,
  activeDeployments,
  drafts,
  sessions,
  turns,
  runs,
  queue,
  replay,
  tracing,
  agent,
  promptDays = PROMPT_DAYS,
  toolCallDays = TOOL_CALL_DAYS,
  observer,
  log,
  lifetime,
}: Parts): ExecutionDomain {
  const idempotency = createIdempotency({ prisma, pubsub, log });
  const earlierRuns = createEarlierRuns({ idempotency, replay });
  const traceRun = createTraceRun({ agent, tracing });
  const keepsToolTexts = toolCallDays > 0;
  const openLedger = createLedgers({ prisma, sql, pubsub, keepsTexts: keepsToolTexts, log });
  const runExecutor = createRunExecutor({
    agent,
    runs,
    queue,
    turns,
    keepsPrompts: promptDays > 0,
    openLedger,
    keepsToolTexts,
    observer,
    log,
  });
  // Runs end before their dependencies close, even if the start of the app fails.
  lifetime.defer(() => activeRuns.drain(0));
  const stopConsumer = lifetime.onStart(() =>
    startQueueConsumer({
      queue,
      runs,
      traceRun,
      runExecutor,
      activeRuns,
      activeDeployments,
      pubsub,
      log,
    }),
  );
  looks.add(createForgottenSearch({ prisma, owner, activeRuns, turns, log }));
  return {
    startChat: createStartChat({
      activeRuns,
      activeDeployments,
      drafts,
      sessions,
      turns,
      runs,
      idempotency,
      earlierRuns,
      traceRun,
      runExecutor,
    }),
    startExecute: createStartExecute({
      activeRuns,
      activeDeployments,
      runs,
      queue,
      idempotency,
      earlierRuns,
      replay,
      traceRun,
      runExecutor,
    }),

    async drain(limitMs) {
      await stopConsumer();
      await activeRuns.drain(limitMs);
    },
  };
}
