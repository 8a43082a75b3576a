/** Interval of the batched lookups: at most one statement in each. */
const EVERY_MS = 100;
const MAX_KEYS = 1_000;
/** Unbatched lookups in progress for one address, which may send 30 requests a minute without a valid key. */
const MAX_UNDER_WAY = 30;

/** The client that sent a key. */
export type KeyOrigin = {
  /** The client's network. Without one, lookups are never batched. */
  address?: string | undefined;
  /** Whether that network has no requests without a valid key left. */
  isSpent?: boolean;
};

/** Finds the row of a key by its hash. @returns `undefined` if there is none. */
export type KeyLookup<Row> = (hash: string, origin: KeyOrigin) => Promise<Row | undefined>;

type Parts<Row> = {
  findOne(hash: string): Promise<Row | null>;
  /** @returns rows by their hashes. */
  findMany(hashes: string[]): Promise<Map<string, Row>>;
};

/**
 * Looks up keys so that an address that guesses keys cannot flood the database. Lookups beyond an address's limit are
 * batched with those of all other such addresses: ten statements a second, each for at most 1,000 keys. A valid key is
 * thus still found from such an address, normally up to 100 ms later.
 */
export function createKeyLookup<Row>({ findOne, findMany }: Parts<Row>): KeyLookup<Row> {
  const underWay = new Map<string, number>();
  const findShared = createSharedLookup(findMany);

  return async (hash, { address, isSpent }) => {
    if (address === undefined) return (await findOne(hash)) ?? undefined;
    const others = underWay.get(address) ?? 0;
    if (isSpent || others >= MAX_UNDER_WAY) return findShared(hash);
    underWay.set(address, others + 1);
    try {
      return (await findOne(hash)) ?? undefined;
    } finally {
      const rest = (underWay.get(address) ?? 0) - 1;
      if (rest > 0) underWay.set(address, rest);
      else underWay.delete(address);
    }
  };
}

/** Sends the first lookup at once, and batches the lookups of the following 100 ms. */
function createSharedLookup<Row>(
  load: (hashes: string[]) => Promise<Map<string, Row>>,
): (hash: string) => Promise<Row | undefined> {
  const waiting = new Map<string, PromiseWithResolvers<Row | undefined>>();
  let isPaused = false;

  const send = async () => {
    const batch = [...waiting].slice(0, MAX_KEYS);
    for (const [hash] of batch) waiting.delete(hash);
    try {
      const rows = await load(batch.map(([hash]) => hash));
      for (const [hash, { resolve }] of batch) resolve(rows.get(hash));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  };

  const next = () => {
    isPaused = waiting.size > 0;
    if (!isPaused) return;
    void send();
    // Not a periodic task: it paces batches of waiting lookups, and ends when none waits.
    setTimeout(next, EVERY_MS).unref();
  };

  return (hash) => {
    const found = waiting.get(hash) ?? Promise.withResolvers<Row | undefined>();
    waiting.set(hash, found);
    if (!isPaused) next();
    return found.promise;
  };
}
