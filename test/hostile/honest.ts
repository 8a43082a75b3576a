import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createClient, type Sample } from '../bench/client.ts';
import type { Target } from '../bench/targets.ts';
import { MESSAGE } from '../bench/workload.ts';

/** The observations of the honest tenant. */
export type Observation = {
  /** Latencies in milliseconds. */
  chats: number[];
  failures: string[];
};

const CHAT_PACE_MS = 100;

/** Chats in both modes, until the signal is aborted. Never rejects. */
export async function observe(target: Target, signal: AbortSignal): Promise<Observation> {
  const observation: Observation = { chats: [], failures: [] };
  const agent = new Agent({ keepAlive: true });
  const note = ({ latency, failure }: Sample) => {
    observation.chats.push(latency);
    if (failure) observation.failures.push(failure);
  };
  const chat = async (mode: 'json' | 'streamed', session: string) => {
    const send = createClient(target, mode, agent);
    for (let turn = 0; !signal.aborted; turn += 1) {
      note(await send({ sessionId: `${session}-${Math.floor(turn / 10)}`, message: MESSAGE }));
      await setTimeout(CHAT_PACE_MS);
    }
  };
  await Promise.all([chat('json', 'honest-a'), chat('streamed', 'honest-b')]);
  agent.destroy();
  return observation;
}
