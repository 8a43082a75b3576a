import type { Result } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Log } from '../observability/log.ts';
import { versionKey } from './cache-versions.ts';
import { entryLimit } from './entry-limit.ts';
import type { Redis } from './redis.ts';

/** The most that a name may count in one UTC minute, in one UTC hour and in one UTC day. */
export type WindowLimit = {
  perMinute: number;
  /** Default: no limit. */
  perHour?: number | undefined;
  perDay: number;
};

/** The state of the windows after a count. */
export type WindowCount = {
  taken: boolean;
  inMinute: number;
  inHour: number;
  inDay: number;
  /** The time of the count, in Unix seconds. */
  now: number;
  /** The current version of `CountedVersions.limit`; `undefined` if unknown. */
  limitVersion: string | undefined;
  /** The current version of `CountedVersions.also`; `undefined` if unknown. */
  version: string | undefined;
};

/** The versions to read in the same round trip as the count. */
export type CountedVersions = {
  /** The source of the limit, with the version under which it was read. With another version nothing is counted. */
  limit?: { name: string; version: string } | undefined;
  /** The name of a further version to read. */
  also?: string | undefined;
};

/** Counts by name in fixed windows: the UTC minute, the UTC hour and the UTC day. */
export type FixedWindowCounter = {
  /**
   * Atomically adds the cost to all windows, or to none if it exceeds one of them or the limit is outdated.
   */
  take(
    name: string,
    cost: number,
    limit: WindowLimit,
    versions?: CountedVersions,
  ): Promise<WindowCount>;
};

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const MAX_NAMES = 100_000;

/** The counts of a name at a time, in Unix seconds. */
type Counted = Pick<WindowCount, 'inMinute' | 'inHour' | 'inDay' | 'now'>;

/** A counter in the memory of this process. */
type MemoryCounter = FixedWindowCounter & {
  /** The last counts of a name; `undefined` if it has none. */
  last(name: string): Counted | undefined;
  /** Replaces the counts of a name by the counts of another counter. */
  set(name: string, counted: Counted): void;
};

const NOTHING: Counted = { inMinute: 0, inHour: 0, inDay: 0, now: 0 };

/**
 * Counts in the memory of this process.
 *
 * @param versionOf returns the current version of a name, if this process is the only one that renews versions.
 */
export function createMemoryCounter(
  clock: () => number = Date.now,
  versionOf: (name: string) => string | undefined = () => undefined,
): MemoryCounter {
  const counts = new LRUCache<string, Counted>(entryLimit(MAX_NAMES));
  return {
    last: (name) => counts.get(name),
    set: (name, counted) => void counts.set(name, counted),
    async take(name, cost, { perMinute, perHour = Infinity, perDay }, { limit, also } = {}) {
      const now = Math.floor(clock() / 1_000);
      const last = counts.get(name);
      const since = (seconds: number) =>
        last && Math.floor(last.now / seconds) === Math.floor(now / seconds);
      const inMinute = since(MINUTE_S) && last ? last.inMinute : 0;
      const inHour = since(HOUR_S) && last ? last.inHour : 0;
      const inDay = since(DAY_S) && last ? last.inDay : 0;
      const limitVersion = limit && versionOf(limit.name);
      const isCurrent = limitVersion === undefined || limitVersion === limit?.version;
      const fits =
        inMinute + cost <= perMinute && inHour + cost <= perHour && inDay + cost <= perDay;
      const taken = isCurrent && fits;
      const added = taken ? cost : 0;
      const count = {
        inMinute: inMinute + added,
        inHour: inHour + added,
        inDay: inDay + added,
        now,
      };
      counts.set(name, count);
      return { ...count, taken, limitVersion, version: also && versionOf(also) };
    },
  };
}

/**
 * As `createMemoryCounter`, in one round trip. Uses the server's time, so that replicas agree when a window ends. The counts
 * that a process knows from these windows are the least: a new master may have lost some.
 */
const SCRIPT = `
local now = tonumber(redis.call('TIME')[1])
local minute, hour, day = math.floor(now / ${MINUTE_S}), math.floor(now / ${HOUR_S}), math.floor(now / ${DAY_S})
local last = redis.call('HMGET', KEYS[1], 'minute', 'inMinute', 'day', 'inDay', 'hour', 'inHour')
local inMinute = tonumber(last[1]) == minute and tonumber(last[2]) or 0
local inDay = tonumber(last[3]) == day and tonumber(last[4]) or 0
local inHour = tonumber(last[5]) == hour and tonumber(last[6]) or 0
local known = tonumber(ARGV[6])
if math.floor(known / ${MINUTE_S}) == minute then inMinute = math.max(inMinute, tonumber(ARGV[7])) end
if math.floor(known / ${HOUR_S}) == hour then inHour = math.max(inHour, tonumber(ARGV[8])) end
if math.floor(known / ${DAY_S}) == day then inDay = math.max(inDay, tonumber(ARGV[9])) end
local cost = tonumber(ARGV[1])
local limitVersion = redis.call('GET', KEYS[2]) or ''
local taken = limitVersion == ARGV[5] and inMinute + cost <= tonumber(ARGV[2]) and inHour + cost <= tonumber(ARGV[3])
  and inDay + cost <= tonumber(ARGV[4])
if taken and cost > 0 then
  inMinute, inHour, inDay = inMinute + cost, inHour + cost, inDay + cost
  redis.call('HSET', KEYS[1], 'minute', minute, 'inMinute', inMinute, 'hour', hour, 'inHour', inHour, 'day', day, 'inDay', inDay)
  if tonumber(last[3]) ~= day then redis.call('EXPIRE', KEYS[1], ${DAY_S} + ${MINUTE_S}) end
end
return { taken and 1 or 0, inMinute, inHour, inDay, now, limitVersion, redis.call('GET', KEYS[3]) or '' }
`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeFromWindows(
      key: string,
      limitVersionKey: string,
      versionKey: string,
      cost: number,
      perMinute: number,
      perHour: number,
      perDay: number,
      readUnder: string,
      known: number,
      knownInMinute: number,
      knownInHour: number,
      knownInDay: number,
    ): Result<
      [
        taken: number,
        inMinute: number,
        inHour: number,
        inDay: number,
        now: number,
        limitVersion: string,
        version: string,
      ],
      Context
    >;
  }
}

/**
 * Counts for all replicas in Redis. While Redis is unavailable, each replica goes on in its own memory from the last counts
 * that it knows, so that requests are served without delay. For a day after that, no count is below those.
 */
export function createSharedCounter(
  { client, prefix, state }: Redis,
  log: Log,
): FixedWindowCounter {
  const own = createMemoryCounter();
  let refused = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  client.defineCommand('takeFromWindows', { numberOfKeys: 3, lua: SCRIPT });
  return {
    async take(name, cost, limit, versions = {}) {
      try {
        const { perMinute, perHour = Number.MAX_SAFE_INTEGER, perDay } = limit;
        // No data has the empty name, so its version is always the empty one.
        const readFrom = versions.limit ?? { name: '', version: '' };
        const hasFailed = performance.now() - failedAt < DAY_S * 1_000;
        const known = (hasFailed && own.last(name)) || NOTHING;
        const [taken, inMinute, inHour, inDay, now, limitVersion, version] =
          await client.takeFromWindows(
            `${prefix}windows:${name}`,
            versionKey(prefix, readFrom.name),
            versionKey(prefix, versions.also ?? ''),
            cost,
            perMinute,
            perHour,
            perDay,
            readFrom.version,
            known.now,
            known.inMinute,
            known.inHour,
            known.inDay,
          );
        refused = false;
        const counted = { inMinute, inHour, inDay, now };
        own.set(name, counted);
        return { ...counted, taken: taken === 1, limitVersion, version };
      } catch (err) {
        failedAt = performance.now();
        // A lost connection and a known problem are already logged by `Redis`.
        if (client.status === 'ready' && !state().problem && !refused) {
          refused = true;
          log.error(
            { err },
            'Redis rejected a rate limit command. This process counts limits in its own memory.',
          );
        }
        return own.take(name, cost, limit);
      }
    },
  };
}
