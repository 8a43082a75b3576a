import type { Agent } from '../agent/agent.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createIdempotency } from '../idempotency/runs.ts';
import type { Lifetime } from '../lifetime.ts';
import type { Log } from '../log.ts';
import type { LiveRuns } from '../runs/active-runs.ts';
import type { Queue } from '../runs/queue.ts';
import type { Replay } from '../runs/replay.ts';
import type { Runs } from '../runs/runs.ts';
import type { Tracing } from '../runs/trace.ts';
import type { Turns } from '../sessions/turns.ts';
import { startBackground } from './queue-consumer.ts';
import { createWorker } from './run-executor.ts';
import { createOnce, createStart } from './start.ts';
import { createChat } from './start-chat.ts';
import { createExecute } from './start-execute.ts';

type Parts = {
  prisma: PrismaClient;
  owner: Owner;
  liveRuns: LiveRuns;
  pubsub: PubSub;
  activeDeployments: ActiveDeployments;
  turns: Turns;
  runs: Runs;
  queue: Queue;
  replay: Replay;
  tracing: Tracing;
  agent: Agent;
  log: Log;
  lifetime: Lifetime;
};

export function createExecutionDomain({
  prisma,
  owner,
  liveRuns,
  pubsub,
  activeDeployments,
  turns,
  runs,
  queue,
  replay,
  tracing,
  agent,
  log,
  lifetime,
}: Parts) {
  const idempotency = createIdempotency({ prisma, owner, pubsub, log });
  const worker = createWorker({ agent, runs, tracing, log });
  const once = createOnce({ idempotency, replay });
  const start = createStart({ liveRuns, once });
  // No run outlives what it runs on, even if the start of the app fails.
  lifetime.defer(() => liveRuns.drain(0));
  const stopConsumer = lifetime.onStart(() =>
    startBackground({ queue, worker, liveRuns, activeDeployments, pubsub, log }),
  );
  return {
    chat: createChat({ activeDeployments, turns, worker, start }),
    execute: createExecute({ activeDeployments, worker, start, once, queue, replay }),

    /** Starts no more runs and waits for the active ones. It aborts the remaining ones after the limit. */
    async drain(limitMs: number): Promise<void> {
      await stopConsumer();
      await liveRuns.drain(limitMs);
    },
  };
}
