import type { Lifetime } from '../async/lifetime.ts';
import { type Looks, wakeWhile } from '../coordination/looks.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { Database } from '../storage/database.ts';
import type { ActiveRuns } from './life/active-runs.ts';
import { type Cancel, createCancel } from './life/cancel.ts';
import { createReplay, type Replay } from './life/replay.ts';
import { startRetention } from './life/retention.ts';
import { createRuns, type Runs } from './life/runs.ts';
import { createRunExport, type RunExport } from './list/export.ts';
import { createRunList, type RunList } from './list/list.ts';
import { createQueue, IS_RUN_DUE, QUEUE_CHANNEL, type Queue } from './queue/queue.ts';
import { createQueueDepth, type QueueDepth } from './queue/queue-depth.ts';
import { createRecovery } from './queue/recovery.ts';
import { type Changes, createChanges } from './record/changes.ts';
import { createRunFeedback, type RunFeedback } from './record/feedback.ts';
import { createCountRuns, startCountingRuns } from './stats/count-runs.ts';
import { createRunStats, type RunStats } from './stats/stats.ts';
import { createRunUsage, type RunUsage } from './stats/usage.ts';
import { createResource, type ResourceAttributes } from './trace/resource.ts';
import { createTracing, type Tracing } from './trace/trace.ts';

/** The composed domain of runs. */
export type RunsDomain = {
  runs: Runs;
  queue: Queue;
  /** The length of the queue, for the metrics. */
  queueDepth(): Promise<QueueDepth>;
  runList: RunList;
  runExport: RunExport;
  runFeedback: RunFeedback;
  runStats: RunStats;
  runUsage: RunUsage;
  runChanges: Changes;
  replay: Replay;
  cancel: Cancel;
  tracing: Tracing;
};

type Parts = Pick<Database, 'prisma' | 'sql' | 'search'> & {
  owner: Owner;
  looks: Looks;
  activeRuns: ActiveRuns;
  pubsub: PubSub;
  /** Base URL of the collector that receives traces; none by default. */
  otlpEndpoint?: string | undefined;
  /** Describes this process to the collector, besides its name, version and instance. */
  resourceAttributes?: ResourceAttributes | undefined;
  /** Days that runs are kept; forever by default. */
  retentionDays?: number | undefined;
  /** Days that runs keep what they sent to the model; 0: not at all. 30 by default. */
  promptDays?: number | undefined;
  /** Days that the texts of tool calls are stored; 0: not at all. 30 by default. */
  toolCallDays?: number | undefined;
  evaluationDays?: number | undefined;
  /** Milliseconds since the epoch. */
  clock?: (() => number) | undefined;
  observer: Observer;
  log: Log;
  lifetime: Lifetime;
};

export async function createRunsDomain({
  prisma,
  sql,
  search,
  owner,
  looks,
  activeRuns,
  pubsub,
  otlpEndpoint,
  resourceAttributes,
  retentionDays,
  promptDays,
  toolCallDays,
  evaluationDays,
  clock: now,
  observer,
  log,
  lifetime,
}: Parts): Promise<RunsDomain> {
  const runList = createRunList({ prisma, search });
  const runChanges = createChanges({ pubsub });
  const { notify } = runChanges;
  const replay = createReplay({ prisma, activeRuns, pubsub });
  const cancel = createCancel({ prisma, owner, activeRuns, replay, pubsub, notify, observer, log });
  looks.add(createRecovery({ prisma, pubsub, notify, observer, log }));
  const queued = { what: 'The start of queued runs', condition: IS_RUN_DUE };
  looks.add(wakeWhile({ ...queued, pubsub, channel: QUEUE_CHANNEL }));
  lifetime.onStart(() =>
    startRetention({
      prisma,
      log,
      days: retentionDays,
      promptDays,
      toolCallDays,
      evaluationDays,
    }),
  );
  lifetime.onStart(cancel.start);
  lifetime.onStart(() => startCountingRuns({ countRuns: createCountRuns({ prisma }), log }));
  const traceExport = otlpEndpoint ? await openTraceExport(otlpEndpoint, log) : undefined;
  if (traceExport) lifetime.defer(traceExport.close);
  return {
    runs: createRuns({ prisma, sql, owner, pubsub, notify, observer, log }),
    queue: createQueue({ prisma, sql, owner, pubsub, notify, observer, log }),
    queueDepth: createQueueDepth({ prisma }),
    runList,
    runExport: createRunExport({ prisma, runList }),
    runFeedback: createRunFeedback({ prisma, notify }),
    runStats: createRunStats({ prisma, search }),
    runUsage: createRunUsage({ prisma, now }),
    runChanges,
    replay,
    cancel,
    tracing: createTracing({
      exporter: traceExport?.processor,
      resource: createResource(resourceAttributes),
    }),
  };
}

/** Loads the exporter only if it is used. */
async function openTraceExport(endpoint: string, log: Log) {
  const { createTraceExport } = await import('./trace/otlp.ts');
  return createTraceExport({ endpoint, log });
}
