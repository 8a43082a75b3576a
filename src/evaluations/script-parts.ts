import type { Script } from '../agent/scripted-agent.ts';

/** The memory of a scripted agent: facts that no session stores. */
export function memoryOf(facts: Record<string, string>): Script['memory'] {
  return {
    async save(_session, name, value) {
      facts[name] = value;
    },
    async forget(_session, name) {
      delete facts[name];
    },
  };
}

/** Gives the entries of each key in turn. The last one repeats. */
export function takeInTurn<Entry>(
  entries: ReadonlyMap<string, readonly Entry[]>,
): (key: string) => Entry | undefined {
  const next = new Map<string, number>();
  return (key) => {
    const all = entries.get(key) ?? [];
    const at = next.get(key) ?? 0;
    next.set(key, at + 1);
    return all[Math.min(at, all.length - 1)];
  };
}
