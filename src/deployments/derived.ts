import { LRUCache } from 'lru-cache';
import { createSemaphore } from '../async/semaphore.ts';
import type { ActiveDeployments, RunningDeployment } from './active.ts';

/** Deployments whose definitions are in memory together. */
const BATCH = 8;
/** Values in memory. */
const CACHE_SIZE = 1_000;

/** Values that are made of stored deployments. */
export type Derived<Value> = {
  /**
   * Reads the values of deployments by their ids. Each value is made once, a few at a time, because the definition of each
   * deployment may have 256 KiB. Deployments whose sources are not valid in this version of Parley are left out.
   */
  read(deploymentIds: string[]): Promise<Map<string, Value>>;
};

/** @param make makes the value of a deployment: at most 30 KiB. */
export function createDerived<Value>(
  activeDeployments: Pick<ActiveDeployments, 'loadValid'>,
  make: (deployment: RunningDeployment) => Value,
): Derived<Value> {
  /** By deployment id. A stored deployment never changes. */
  const made = new LRUCache<string, { value: Value }>({ max: CACHE_SIZE });
  const { acquire } = createSemaphore();

  return {
    async read(deploymentIds) {
      // The values of other calls may be the same ones.
      using _turn = await acquire('', 1);
      const values = new Map<string, Value>();
      const unknown = deploymentIds.filter((id) => {
        const known = made.get(id);
        if (known) values.set(id, known.value);
        return !known;
      });
      for (let start = 0; start < unknown.length; start += BATCH) {
        const running = await activeDeployments.loadValid(unknown.slice(start, start + BATCH));
        for (const [id, deployment] of running) {
          const value = make(deployment);
          made.set(id, { value });
          values.set(id, value);
        }
      }
      return values;
    },
  };
}
