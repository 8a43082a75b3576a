/**
 * Measures how long a server's event loop stalls: requests `/healthz` every 20 ms over one connection. Reports the
 * requests since the last report to each message of its parent.
 *
 * Usage: node stall-probe.ts URL PID
 */
import { Agent, get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { mainThreadTimes, NO_WAITS, stallOf, sum } from './stalls.ts';

const EVERY_MS = 20;
const CONTROL_MS = 5;
const LIMIT_MS = 30_000;
const [, , url = '', pid = ''] = process.argv;
const server = Number(pid);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let waits = NO_WAITS;
let controlAt = performance.now() + CONTROL_MS;
const control = setInterval(() => {
  controlAt = performance.now() + CONTROL_MS;
}, CONTROL_MS);

/** Requests once. @returns the status; 0 without a response. */
function request(): Promise<number> {
  return new Promise((resolve) => {
    const call = get(`${url}/healthz`, { agent, timeout: LIMIT_MS }, (response) => {
      resolve(response.statusCode ?? 0);
      response.resume();
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(0));
  });
}

async function probe(): Promise<void> {
  const startedAt = performance.now();
  const before = mainThreadTimes(server);
  const status = await request();
  const now = performance.now();
  const after = mainThreadTimes(server);
  const wait = {
    latencyMs: now - startedAt,
    busyMs: before && after && after.busyMs - before.busyMs,
    lateMs: Math.max(0, now - controlAt),
  };
  waits = sum(waits, {
    requests: 1,
    unanswered: status === 200 ? 0 : 1,
    longestStallMs: stallOf(wait),
    longestLatencyMs: wait.latencyMs,
  });
  if (isReportDue) report();
  await setTimeout(Math.max(EVERY_MS - wait.latencyMs, 1));
}

/** A report includes the request that is under way when it is asked for. */
let isReportDue = false;
function report() {
  process.send?.(waits);
  waits = NO_WAITS;
  isReportDue = false;
}

process.on('message', () => {
  isReportDue = true;
});
const stop = new AbortController();
for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => stop.abort());
process.send?.('probing');
while (!stop.signal.aborted) await probe();
clearInterval(control);
agent.destroy();
process.disconnect?.();
