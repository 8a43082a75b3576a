/** Loaded into every measured server: answers each message of its parent with the figures of the process. */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** The figures of a process. Times are in milliseconds since its start. */
export type Figures = {
  /** User and system time of all threads. */
  cpuMs: number;
  /** The main thread's pauses for garbage collection. */
  gcMs: number;
  /** The resident set, in bytes. */
  memory: number;
  /** The 99th percentile of the event loop's delay since the last message, in milliseconds. */
  lagMs: number;
};

const lag = monitorEventLoopDelay();
lag.enable();
let gcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs += duration;
}).observe({ entryTypes: ['gc'] });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const figures: Figures = {
    cpuMs: (user + system) / 1_000,
    gcMs,
    memory: process.memoryUsage.rss(),
    lagMs: lag.percentile(99) / 1e6,
  };
  lag.reset();
  process.send?.(figures);
});
// The channel must not keep the server alive.
process.channel?.unref();
