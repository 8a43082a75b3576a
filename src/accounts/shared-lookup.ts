/** At most one statement in this time. */
const EVERY_MS = 100;
const MAX_KEYS = 1_000;

/** Finds a row by its key. @returns undefined where there is none. */
export type Lookup<Row> = (key: string) => Promise<Row | undefined>;

/**
 * Look-ups that share statements: one in 100 ms at most, for 1,000 keys at most. The first leaves at once. However many
 * strangers ask, the database gets ten statements a second, and a key that exists is found.
 *
 * @param load finds the rows of several keys, by their keys.
 */
export function createSharedLookup<Row>(
  load: (keys: string[]) => Promise<Map<string, Row>>,
): Lookup<Row> {
  const waiting = new Map<string, PromiseWithResolvers<Row | undefined>>();
  let isPaused = false;

  const send = async () => {
    const batch = [...waiting].slice(0, MAX_KEYS);
    for (const [key] of batch) waiting.delete(key);
    try {
      const rows = await load(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) resolve(rows.get(key));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  };

  const next = () => {
    isPaused = waiting.size > 0;
    if (!isPaused) return;
    void send();
    setTimeout(next, EVERY_MS).unref();
  };

  return (key) => {
    const found = waiting.get(key) ?? Promise.withResolvers<Row | undefined>();
    waiting.set(key, found);
    if (!isPaused) next();
    return found.promise;
  };
}
