import { LRUCache } from 'lru-cache';
import { withinTime } from '../async/deadline.ts';
import { entryLimit } from '../coordination/entry-limit.ts';
import { GatewayError } from '../errors/errors.ts';

/** Interval of the batched statements of all kinds together. */
const EVERY_MS = 100;
const MAX_KEYS = 1_000;
/** Unbatched look-ups of one address that are in progress or have failed in this minute. */
const MAX_UNBATCHED = 30;
const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 100_000;
/** Batched look-ups that wait at the same time. */
const MAX_WAITING_OF_ADDRESS = 1_000;
const MAX_WAITING_OF_KIND = 10_000;
const MAX_WAIT_MS = 5_000;

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
 * Finds the row of a credential by its key, such as its hash. Check the form of a credential before. A client that
 * disconnects does not end its look-up, so that its request still counts; the look-up waits 5 seconds at most.
 *
 * @returns `undefined` if there is none.
 * @throws GatewayError `rate_limit_exceeded` if too many batched look-ups wait, or if the answer takes too long.
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
 * a minute. Its further look-ups, and all look-ups of an address over its limit, are batched together for all such
 * addresses: in all, ten statements a second, each for at most 1,000 credentials of one kind. A valid credential is thus
 * still found from such an address, normally up to 100 ms later. At most 1,000 look-ups of one address and 10,000 of one
 * kind wait for a batch or its answer.
 *
 * @param now milliseconds since the epoch.
 */
export function createKeyLookups(now: () => number = Date.now): KeyLookups {
  const unbatched = createCounts();
  const batched = createCounts();
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
      if (isSpent || unbatched.of(address) + failedOf(address) >= MAX_UNBATCHED) {
        if (batched.of(address) >= MAX_WAITING_OF_ADDRESS) throw overloaded();
        return await batched.during(address, () => findShared(key));
      }
      return await unbatched.during(address, async () => {
        const row = (await findOne(key)) ?? undefined;
        if (row === undefined || !isValid(row))
          failed.set(address, { minute: minute(), count: failedOf(address) + 1 });
        return row;
      });
    };
  };
}

/**
 * Fetches an entry of a cache whose `fetchMethod` looks up a credential. Concurrent calls share a look-up. If it is refused
 * because of the address that began it, the others look up again with their own origin.
 */
export async function fetchByLookup<Value extends object | string>(
  cache: LRUCache<string, Value, KeyOrigin>,
  name: string,
  origin: KeyOrigin,
): Promise<Value | undefined> {
  // A fetch of what the cache has costs several times as much.
  const known = cache.get(name);
  if (known !== undefined) return known;
  const status: LRUCache.Status<string, Value, KeyOrigin> = {};
  try {
    return await cache.fetch(name, { context: origin, status });
  } catch (error) {
    const isOwn = status.fetch !== 'inflight';
    if (isOwn || !(error instanceof GatewayError) || error.code !== 'rate_limit_exceeded')
      throw error;
    return await cache.fetch(name, { context: origin });
  }
}

function overloaded(): GatewayError {
  const message = 'Too many credentials wait to be looked up. Wait 1 second.';
  return new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
}

/** Counts the work in progress of each name. */
function createCounts() {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    of,
    async during<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
      counts.set(name, of(name) + 1);
      try {
        return await work();
      } finally {
        if (of(name) > 1) counts.set(name, of(name) - 1);
        else counts.delete(name);
      }
    },
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
  type Entry = PromiseWithResolvers<Row | undefined> & { readers: number };
  /** The keys of the next batches. */
  const waiting = new Map<string, Entry>();
  /** How many look-ups wait for a batch or for its answer. */
  let readers = 0;

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
      const batch = new Map(waiting.entries().take(MAX_KEYS));
      for (const key of batch.keys()) waiting.delete(key);
      if (batch.size > 0) void answer(batch);
      return waiting.size > 0;
    },
  };

  return async (key) => {
    if (readers >= MAX_WAITING_OF_KIND) throw overloaded();
    const entry = waiting.get(key) ?? { ...Promise.withResolvers<Row | undefined>(), readers: 0 };
    waiting.set(key, entry);
    readers += 1;
    entry.readers += 1;
    pace(batches);
    try {
      return await withinTime(MAX_WAIT_MS, entry.promise, overloaded);
    } finally {
      readers -= 1;
      entry.readers -= 1;
      // Nobody waits for this key any more, so no batch looks it up.
      if (entry.readers === 0 && waiting.get(key) === entry) waiting.delete(key);
    }
  };
}
