import { LRUCache } from 'lru-cache';
import { entryLimit } from '../coordination/entry-limit.ts';

/** Interval of the batched statements of all kinds together. */
const EVERY_MS = 100;
const MAX_KEYS = 1_000;
/** Unbatched look-ups of one address that are in progress or have failed in this minute. */
const MAX_UNBATCHED = 30;
const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 100_000;

/** The client that sent a credential. */
export type KeyOrigin = {
  /** The client's network. Without one, look-ups are never batched. */
  address?: string | undefined;
  /** Whether that network has no requests without a valid key left. */
  isSpent?: boolean;
  /** Whether that network has no requests as a visitor of this bot left. */
  isSpentFor?: (botId: string) => boolean;
};

/**
 * Finds the row of a credential by its key, such as its hash. Check the form of a credential before.
 *
 * @returns `undefined` if there is none.
 */
export type KeyLookup<Row> = (key: string, origin: KeyOrigin) => Promise<Row | undefined>;

type Kind<Row> = {
  findOne(key: string): Promise<Row | null>;
  /** @returns rows by their keys. */
  findMany(keys: string[]): Promise<Map<string, Row>>;
  /** Whether the credential of a row is still valid. Else its look-up counts as a failed one. Default: it is. */
  isValid?(row: Row): boolean;
  /** The statements of `findMany`, at most. Default: 1. */
  statements?: number;
};

/** Makes the look-up of one kind of credentials. All kinds share the limits. */
export type KeyLookups = <Row>(kind: Kind<Row>) => KeyLookup<Row>;

/**
 * Looks up credentials so that an address that guesses them cannot flood the database. An address has 30 failed look-ups
 * a minute. Its further ones, and those of an address over its limit, are batched with those of all other such
 * addresses: in all, ten statements a second, each for at most 1,000 credentials of one kind. A valid credential is thus
 * still found from such an address, normally up to 100 ms later.
 *
 * @param now milliseconds since the epoch.
 */
export function createKeyLookups(now: () => number = Date.now): KeyLookups {
  const underWay = new Map<string, number>();
  const failed = new LRUCache<string, { minute: number; count: number }>(entryLimit(MAX_ADDRESSES));
  const minute = () => Math.floor(now() / MINUTE_MS);
  const failedOf = (address: string) => {
    const last = failed.get(address);
    return last?.minute === minute() ? last.count : 0;
  };
  const pace = createPace();

  return ({ findOne, findMany, isValid = () => true, statements = 1 }) => {
    const findShared = createSharedLookup(findMany, statements, pace);

    return async (key, { address, isSpent }) => {
      if (address === undefined) return (await findOne(key)) ?? undefined;
      const others = underWay.get(address) ?? 0;
      if (isSpent || others + failedOf(address) >= MAX_UNBATCHED) return findShared(key);
      underWay.set(address, others + 1);
      try {
        const row = (await findOne(key)) ?? undefined;
        if (row === undefined || !isValid(row))
          failed.set(address, { minute: minute(), count: failedOf(address) + 1 });
        return row;
      } finally {
        const rest = (underWay.get(address) ?? 0) - 1;
        if (rest > 0) underWay.set(address, rest);
        else underWay.delete(address);
      }
    };
  };
}

/** The batches of one kind. */
type Batches = {
  statements: number;
  /** Sends the next batch. @returns whether more keys wait. */
  send(): boolean;
};

/** Sends the first batch at once, and the following ones with pauses of 100 ms for each statement, the kinds in turn. */
function createPace(): (batches: Batches) => void {
  const waiting = new Set<Batches>();
  let isPaused = false;

  const next = () => {
    const [batches] = waiting;
    isPaused = batches !== undefined;
    if (!batches) return;
    waiting.delete(batches);
    if (batches.send()) waiting.add(batches);
    // Not a periodic task: it paces batches of waiting look-ups, and ends when none waits.
    setTimeout(next, EVERY_MS * batches.statements).unref();
  };

  return (batches) => {
    waiting.add(batches);
    if (!isPaused) next();
  };
}

function createSharedLookup<Row>(
  load: (keys: string[]) => Promise<Map<string, Row>>,
  statements: number,
  pace: (batches: Batches) => void,
): (key: string) => Promise<Row | undefined> {
  const waiting = new Map<string, PromiseWithResolvers<Row | undefined>>();

  const answer = async (batch: typeof waiting) => {
    try {
      const rows = await load([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(rows.get(key));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  };

  const batches: Batches = {
    statements,
    send() {
      const batch = new Map([...waiting].slice(0, MAX_KEYS));
      for (const key of batch.keys()) waiting.delete(key);
      void answer(batch);
      return waiting.size > 0;
    },
  };

  return (key) => {
    const found = waiting.get(key) ?? Promise.withResolvers<Row | undefined>();
    waiting.set(key, found);
    pace(batches);
    return found.promise;
  };
}
