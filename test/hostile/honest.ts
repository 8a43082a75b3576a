import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createClient, type Sample } from '../bench/client.ts';
import type { Target } from '../bench/targets.ts';
import { MESSAGE } from '../bench/workload.ts';

/** The observations of the honest tenant and the operator during the attacks. Times are in milliseconds. */
export type Observation = {
  chats: number[];
  /** The failures of chats and of `/healthz`. */
  failures: string[];
  health: number[];
  /** The largest resident set of the server's process, in MiB. */
  memory: number;
};

const CHAT_PACE_MS = 100;
const PROBE_PACE_MS = 250;
const PROBE_LIMIT_MS = 10_000;

/** Chats in both modes and polls the server's health, until the signal is aborted. Never rejects. */
export async function observe(
  target: Target,
  { url, memory, signal }: { url: string; memory(): Promise<number>; signal: AbortSignal },
): Promise<Observation> {
  const observation: Observation = { chats: [], failures: [], health: [], memory: 0 };
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
  const probe = async () => {
    while (!signal.aborted) {
      const startedAt = performance.now();
      const status = await fetch(`${url}/healthz`, {
        signal: AbortSignal.timeout(PROBE_LIMIT_MS),
      }).then(
        async (response) => {
          await response.text();
          return response.status;
        },
        (error: Error) => error.message,
      );
      if (status !== 200) observation.failures.push(`/healthz: ${status}`);
      observation.health.push(performance.now() - startedAt);
      observation.memory = Math.max(observation.memory, await memory());
      await setTimeout(PROBE_PACE_MS);
    }
  };
  await Promise.all([chat('json', 'honest-a'), chat('streamed', 'honest-b'), probe()]);
  agent.destroy();
  return observation;
}
