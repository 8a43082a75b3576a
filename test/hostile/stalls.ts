import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { launch } from '../bench/child.ts';

/** One request that waited for the server's event loop. Times are in milliseconds. */
export type Wait = {
  /** From the request to the moment at which the measuring process read the response. */
  latencyMs: number;
  /** The CPU time of the server's main thread in that period. Absent where the system does not tell it. */
  busyMs: number | undefined;
  /** How late the control timer of the measuring process was when it read the response. */
  lateMs: number;
};

/** The requests of a period. */
export type Waits = {
  requests: number;
  /** Requests without a response, or with another status than 200. */
  unanswered: number;
  /** The longest stall, see `stallOf`. */
  longestStallMs: number;
  /** The longest latency, including the time in which the server had no CPU. */
  longestLatencyMs: number;
};

export const NO_WAITS: Waits = {
  requests: 0,
  unanswered: 0,
  longestStallMs: 0,
  longestLatencyMs: 0,
};

/**
 * The time for which the server's event loop served no request although it had a CPU. A process that waits for a CPU is
 * slow but does not stall, and a response that the measuring process reads late did not wait for the server.
 */
export function stallOf({ latencyMs, busyMs, lateMs }: Wait): number {
  return Math.max(0, Math.min(latencyMs, busyMs ?? latencyMs) - lateMs);
}

/** Times of a process's main thread since its start, in milliseconds. */
export type ThreadTimes = {
  busyMs: number;
  /** The time in which it was ready to run and had no CPU. */
  waitedMs: number;
};

/** @returns nothing without Linux's scheduler statistics. */
export function mainThreadTimes(pid: number): ThreadTimes | undefined {
  try {
    const [busy, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return { busyMs: Number(busy) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}

/** Watches a server's event loop from a process of its own. */
export type StallWatch = {
  /** The requests since the last call of either function. */
  read(): Promise<Waits>;
  /** The requests since the last call of this function. */
  readPhase(): Promise<Waits>;
};

/**
 * Starts a process that requests `/healthz` every 20 ms, until the stack is disposed of.
 *
 * @param server its URL, and the id of its process.
 */
export async function watchStalls(
  { url, pid }: { url: string; pid: number },
  { signal, stack }: { signal: AbortSignal; stack: AsyncDisposableStack },
): Promise<StallWatch> {
  const file = '../hostile/stall-probe.ts';
  const { child, output } = launch({ file, args: [url, String(pid)], signal, stack });
  const closed = once(child, 'close').then(() => {
    throw new Error(`${file} exited too early:\n${output()}`);
  });
  closed.catch(() => {});
  const next = async () => {
    const [message] = await Promise.race([once(child, 'message', { signal }), closed]);
    return message;
  };
  await next();
  let phase = NO_WAITS;
  const read = async (): Promise<Waits> => {
    const waits = next();
    child.send('read');
    phase = sum(phase, await waits);
    return waits;
  };
  return {
    read,
    async readPhase() {
      await read();
      const waits = phase;
      phase = NO_WAITS;
      return waits;
    },
  };
}

/** The waits of two periods together. */
export function sum(one: Waits, other: Waits): Waits {
  return {
    requests: one.requests + other.requests,
    unanswered: one.unanswered + other.unanswered,
    longestStallMs: Math.max(one.longestStallMs, other.longestStallMs),
    longestLatencyMs: Math.max(one.longestLatencyMs, other.longestLatencyMs),
  };
}
