/**
 * Loaded into every measured server: answers each message of its parent with the figures of the process. It is no TypeScript,
 * because Node.js would take 20 MB to read that.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** It wakes the process a hundred times a second, which costs an idle one more than all of its own work. */
const lag = process.env.BENCH_LAG === 'off' ? undefined : monitorEventLoopDelay();
lag?.enable();
let gcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs += duration;
}).observe({ entryTypes: ['gc'] });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const figures = {
    cpuMs: (user + system) / 1_000,
    gcMs,
    memory: process.memoryUsage.rss(),
    lagMs: (lag?.percentile(99) ?? Number.NaN) / 1e6,
  };
  lag?.reset();
  process.send?.(figures);
});
// The channel must not keep the server alive.
process.channel?.unref();
