/** At most one statement for many keys in this time. */
const EVERY_MS = 100;
const MAX_KEYS = 1_000;
/** Statements for one key each that an address may have under way; an address without a valid key has 30 requests a minute. */
const MAX_UNDER_WAY = 30;

/** Where a key comes from. */
export type KeyOrigin = {
  /** The client's address; all without one have no bound of their own. */
  address?: string | undefined;
  /** Whether that address has no requests without a valid key left. */
  isSpent?: boolean;
};

/** Finds the row of a key by its hash. @returns undefined where there is none. */
export type KeyLookup<Row> = (hash: string, origin: KeyOrigin) => Promise<Row | undefined>;

type Parts<Row> = {
  findOne(hash: string): Promise<Row | null>;
  /** @returns rows by their hashes. */
  findMany(hashes: string[]): Promise<Map<string, Row>>;
};

/**
 * Looks keys up so that no address gets more statements than requests. What is beyond that shares statements with all
 * others that are: ten a second, for 1,000 keys at most each. A valid key is thus found from any address, up to 100 ms
 * later from one that guesses.
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

/** The first look-up leaves at once; those of the next 100 ms leave together. */
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
    setTimeout(next, EVERY_MS).unref();
  };

  return (hash) => {
    const found = waiting.get(hash) ?? Promise.withResolvers<Row | undefined>();
    waiting.set(hash, found);
    if (!isPaused) next();
    return found.promise;
  };
}
