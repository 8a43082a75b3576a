import type { SendChat } from './client.ts';
import type { Target } from './targets.ts';
import type { Chat } from './workload.ts';

/** The length of a round: it ends at the first of these limits. */
export type Limits = { ms: number; chats: number };

/** The result of one round on one server. Times are in milliseconds. */
export type Round = {
  chats: number;
  chatsPerSecond: number;
  p50: number;
  p99: number;
  /** The median. */
  firstByte: number;
  /** The CPU time of the server's process per chat. */
  cpu: number;
  /** The pauses for garbage collection, as a part of the CPU time. */
  gcShare: number;
  /** The 99th percentile of the event loop's delay. */
  lag: number;
  failures: string[];
};

/**
 * Keeps each conversation busy with consecutive chats on a connection of its own, and waits for the last reply.
 *
 * @param signal stops new chats when it is aborted.
 */
export async function runRound(
  { figures }: Pick<Target, 'figures'>,
  sendChat: SendChat,
  conversations: readonly (() => Chat)[],
  limits: Limits,
  signal: AbortSignal,
): Promise<Round> {
  const latencies: number[] = [];
  const firstBytes: number[] = [];
  const failures: string[] = [];
  const before = await figures();
  const startedAt = performance.now();
  let begun = 0;

  const work = async (next: () => Chat) => {
    while (!signal.aborted && begun < limits.chats && performance.now() - startedAt < limits.ms) {
      begun += 1;
      const { latency, firstByte, failure } = await sendChat(next());
      latencies.push(latency);
      firstBytes.push(firstByte);
      if (failure !== undefined) failures.push(failure);
    }
  };

  await Promise.all(conversations.map(work));
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await figures();
  const cpuMs = after.cpuMs - before.cpuMs;
  return {
    chats: latencies.length,
    chatsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    firstByte: percentile(firstBytes, 0.5),
    cpu: cpuMs / latencies.length,
    gcShare: (after.gcMs - before.gcMs) / cpuMs,
    lag: after.lagMs,
    failures,
  };
}

/** The smallest value that is at least as large as this fraction of the values. */
export function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
