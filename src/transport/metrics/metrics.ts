import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../../observability/observer.ts';
import type { QueueDepth } from '../../runs/queue/queue-depth.ts';
import { startEventLoopLag } from './event-loop-lag.ts';

/** The metrics of this process, in a registry of their own. */
export type Metrics = {
  /** Counts the events that the domains report. */
  observer: Observer;
  /** @param route the route's pattern, never the URL of a request. */
  requestAnswered(route: string, method: string, status: number): void;
  /** Sets the sources that each scrape reads. */
  readFrom(sources: Sources): void;
  contentType: string;
  /** Renders every metric in Prometheus' text format. The queue's gauges are NaN while the database is unreachable. */
  render(): Promise<string>;
  /** Starts to measure the event loop, until it is disposed of. */
  start(): AsyncDisposable;
};

type Sources = {
  server: Server;
  queueDepth(): Promise<QueueDepth>;
  /** Absent without Redis. */
  isRedisDegraded?: (() => boolean) | undefined;
};

/** Seconds. A chat takes tenths of a second, a run 15 minutes at most. */
const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const CALL_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Runs. A statement takes 64 at most. */
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64];
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Source of the names: https://prometheus.io/docs/practices/naming/. No label has more values than the code names. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let sources: Sources | undefined;

  const requests = new Counter({
    name: 'parley_http_requests_total',
    help: 'HTTP requests that were answered.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const runs = new Counter({
    name: 'parley_runs_total',
    help: 'Runs that ended.',
    labelNames: ['kind', 'channel', 'status'],
    registers,
  });
  const runDuration = new Histogram({
    name: 'parley_run_duration_seconds',
    help: 'Time from the request to the end of its run, waiting included.',
    buckets: RUN_BUCKETS,
    registers,
  });
  const modelDuration = new Histogram({
    name: 'parley_model_duration_seconds',
    help: 'Time of a model call, its retry included.',
    labelNames: ['model'],
    buckets: CALL_BUCKETS,
    registers,
  });
  const modelErrors = new Counter({
    name: 'parley_model_errors_total',
    help: 'Model calls that failed after their retry.',
    labelNames: ['reason'],
    registers,
  });
  const modelFallbacks = new Counter({
    name: 'parley_model_fallbacks_total',
    help: 'Failed model calls that another model took over.',
    registers,
  });
  const tokens = new Counter({
    name: 'parley_model_tokens_total',
    help: 'Tokens of ended runs, estimated if the model server reported none.',
    labelNames: ['direction'],
    registers,
  });
  const toolDuration = new Histogram({
    name: 'parley_tool_duration_seconds',
    help: 'Time of a tool call.',
    buckets: CALL_BUCKETS,
    registers,
  });
  const rateLimited = new Counter({
    name: 'parley_rate_limited_total',
    help: 'Requests and operations that exceeded a rate limit.',
    registers,
  });
  const batches = new Histogram({
    name: 'parley_batch_size',
    help: 'Runs that one statement began or ended.',
    labelNames: ['statement'],
    buckets: BATCH_BUCKETS,
    registers,
  });
  const lag = new Histogram({
    name: 'parley_event_loop_lag_seconds',
    help: 'How late a timer fires, measured ten times a second.',
    buckets: LAG_BUCKETS,
    registers,
  });
  new Gauge({
    name: 'parley_connections',
    help: 'Open connections to the server.',
    registers,
    async collect() {
      if (sources) this.set(await openConnections(sources.server));
    },
  });
  new Gauge({
    name: 'parley_redis_degraded',
    help: '1 while this process counts limits by itself, because Redis is disconnected or cannot be used.',
    registers,
    collect() {
      this.set(sources?.isRedisDegraded?.() ? 1 : 0);
    },
  });
  const queueDepth = new Gauge({
    name: 'parley_queue_depth',
    help: 'Background runs that wait for a worker, over all processes.',
    registers,
  });
  const queueOldest = new Gauge({
    name: 'parley_queue_oldest_seconds',
    help: 'Age of the oldest background run that waits, over all processes.',
    registers,
  });

  /** The other metrics matter most while the database is unreachable. */
  const readQueue = async () => {
    const queue = await sources?.queueDepth().catch(() => undefined);
    queueDepth.set(queue?.depth ?? Number.NaN);
    queueOldest.set(queue?.oldestSeconds ?? Number.NaN);
  };

  return {
    observer: {
      runEnded({ kind, channel, status, usage }) {
        runs.labels(kind.toLowerCase(), channel.toLowerCase(), status.toLowerCase()).inc();
        if (!usage) return;
        runDuration.observe(usage.seconds);
        tokens.inc({ direction: 'input' }, usage.promptTokens);
        tokens.inc({ direction: 'output' }, usage.completionTokens);
      },
      modelCalled: (model, seconds) => modelDuration.observe({ model }, seconds),
      modelFailed: (reason) => modelErrors.inc({ reason }),
      modelFellBack: () => modelFallbacks.inc(),
      toolCalled: (seconds) => toolDuration.observe(seconds),
      rateLimited: () => rateLimited.inc(),
      batchSent: (statement, runs) => batches.observe({ statement }, runs),
    },
    requestAnswered: (route, method, status) => requests.labels(route, method, `${status}`).inc(),
    readFrom(given) {
      sources = given;
    },
    contentType: registry.contentType,
    async render() {
      await readQueue();
      return registry.metrics();
    },
    start: () => startEventLoopLag((seconds) => lag.observe(seconds)),
  };
}

function openConnections(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}
