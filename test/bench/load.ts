import type { SendChat } from './client.ts';
import type { Target } from './targets.ts';
import { SESSIONS, sessionId } from './workload.ts';

/** The length of a round: it ends at the first of these limits. */
export type Limits = { ms: number; chats: number };

/** The result of one round on one server. Times are in milliseconds. */
export type Round = {
  chatsPerSecond: number;
  p50: number;
  p99: number;
  /** The median. */
  firstByte: number;
  /** The CPU time of the server's process per chat, if it can be read. */
  cpu: number | undefined;
  failures: string[];
};

/**
 * Keeps a number of connections busy with consecutive chats, each in its own sessions, and waits for the last reply.
 *
 * @param signal stops new chats when it is aborted.
 */
export async function runRound(
  { cpuMs }: Pick<Target, 'cpuMs'>,
  sendChat: SendChat,
  connections: number,
  limits: Limits,
  signal: AbortSignal,
): Promise<Round> {
  const latencies: number[] = [];
  const firstBytes: number[] = [];
  const failures: string[] = [];
  const cpuBefore = await cpuMs();
  const startedAt = performance.now();
  let begun = 0;

  const work = async (connection: number) => {
    let session = connection;
    while (!signal.aborted && begun < limits.chats && performance.now() - startedAt < limits.ms) {
      begun += 1;
      const { latency, firstByte, failure } = await sendChat(sessionId(session));
      latencies.push(latency);
      firstBytes.push(firstByte);
      if (failure !== undefined) failures.push(failure);
      session = (session + connections) % SESSIONS;
    }
  };

  await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuAfter = await cpuMs();
  return {
    chatsPerSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    firstByte: percentile(firstBytes, 0.5),
    cpu:
      cpuBefore === undefined || cpuAfter === undefined
        ? undefined
        : (cpuAfter - cpuBefore) / latencies.length,
    failures,
  };
}

/** The smallest value that is at least as large as this fraction of the values. */
export function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
