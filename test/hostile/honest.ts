import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createClient, type Sample } from '../bench/client.ts';
import type { Target } from '../bench/targets.ts';
import { MESSAGE } from '../bench/workload.ts';
import { mainThreadTimes } from './stalls.ts';

/** The observations of the honest tenant. */
export type Observation = {
  /** Latencies in milliseconds, without the time in which the server was ready to run and had no CPU. */
  chats: number[];
  failures: string[];
};

const CHAT_PACE_MS = 100;

/** Chats in both modes, until the signal is aborted. Never rejects. */
export async function observe(
  target: Target & { pid: number },
  signal: AbortSignal,
): Promise<Observation> {
  const observation: Observation = { chats: [], failures: [] };
  const agent = new Agent({ keepAlive: true });
  const waitedMs = () => mainThreadTimes(target.pid)?.waitedMs ?? 0;
  const note = ({ latency, failure }: Sample, waited: number) => {
    observation.chats.push(Math.max(0, latency - waited));
    if (failure) observation.failures.push(failure);
  };
  const chat = async (mode: 'json' | 'streamed', session: string) => {
    const send = createClient(target, mode, agent);
    for (let turn = 0; !signal.aborted; turn += 1) {
      const before = waitedMs();
      const sample = await send({
        sessionId: `${session}-${Math.floor(turn / 10)}`,
        message: MESSAGE,
      });
      note(sample, waitedMs() - before);
      await setTimeout(CHAT_PACE_MS);
    }
  };
  await Promise.all([chat('json', 'honest-a'), chat('streamed', 'honest-b')]);
  agent.destroy();
  return observation;
}
