import type { Result } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';
import { versionKey } from './cache-versions.ts';
import type { Redis } from './redis.ts';

/** How much may be counted in one UTC minute and in one UTC day. */
export type WindowLimit = { perMinute: number; perDay: number };

/** What the windows hold after a count. */
export type WindowCount = {
  taken: boolean;
  inMinute: number;
  inDay: number;
  /** The moment of it, in Unix seconds. */
  now: number;
  /** The current version of what the limit was read from; none where it is not known. */
  limitVersion: string | undefined;
  /** The current version of what was asked for along with it; none where it is not known. */
  version: string | undefined;
};

/** The versions that a count reads in its own round trip, by their names. */
export type CountedVersions = {
  /** What the limit was read from, and under which version: under any other one nothing is counted. */
  limit?: { name: string; version: string } | undefined;
  /** Anything else to tell the version of. */
  also?: string | undefined;
};

/** Counts by name in fixed windows: the UTC minute and the UTC day. */
export type Windows = {
  /**
   * Adds the cost to both windows in one step, or to neither where it does not fit in both or where the limit is out of
   * date.
   */
  take(
    name: string,
    cost: number,
    limit: WindowLimit,
    versions?: CountedVersions,
  ): Promise<WindowCount>;
};

const MINUTE_S = 60;
const DAY_S = 86_400;
const MAX_NAMES = 100_000;

/**
 * The windows of this process.
 *
 * @param versionOf tells versions, where this process is the only one that makes them.
 */
export function createMemoryWindows(
  clock: () => number = Date.now,
  versionOf: (name: string) => string | undefined = () => undefined,
): Windows {
  const counts = new LRUCache<string, Omit<WindowCount, 'limitVersion' | 'version'>>({
    max: MAX_NAMES,
  });
  return {
    async take(name, cost, { perMinute, perDay }, { limit, also } = {}) {
      const now = Math.floor(clock() / 1_000);
      const last = counts.get(name);
      const since = (seconds: number) =>
        last && Math.floor(last.now / seconds) === Math.floor(now / seconds);
      const inMinute = since(MINUTE_S) && last ? last.inMinute : 0;
      const inDay = since(DAY_S) && last ? last.inDay : 0;
      const limitVersion = limit && versionOf(limit.name);
      const isCurrent = limitVersion === undefined || limitVersion === limit?.version;
      const taken = isCurrent && inMinute + cost <= perMinute && inDay + cost <= perDay;
      const added = taken ? cost : 0;
      const count = { taken, inMinute: inMinute + added, inDay: inDay + added, now };
      counts.set(name, count);
      return { ...count, limitVersion, version: also && versionOf(also) };
    },
  };
}

/** The same, in one round trip. The time is the server's, so that replicas agree when a window ends. */
const SCRIPT = `
local now = tonumber(redis.call('TIME')[1])
local minute, day = math.floor(now / ${MINUTE_S}), math.floor(now / ${DAY_S})
local last = redis.call('HMGET', KEYS[1], 'minute', 'inMinute', 'day', 'inDay')
local inMinute = tonumber(last[1]) == minute and tonumber(last[2]) or 0
local inDay = tonumber(last[3]) == day and tonumber(last[4]) or 0
local cost = tonumber(ARGV[1])
local limitVersion = redis.call('GET', KEYS[2]) or ''
local taken = limitVersion == ARGV[4] and inMinute + cost <= tonumber(ARGV[2]) and inDay + cost <= tonumber(ARGV[3])
if taken and cost > 0 then
  inMinute, inDay = inMinute + cost, inDay + cost
  redis.call('HSET', KEYS[1], 'minute', minute, 'inMinute', inMinute, 'day', day, 'inDay', inDay)
  if tonumber(last[3]) ~= day then redis.call('EXPIRE', KEYS[1], ${DAY_S} + ${MINUTE_S}) end
end
return { taken and 1 or 0, inMinute, inDay, now, limitVersion, redis.call('GET', KEYS[3]) or '' }
`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeFromWindows(
      key: string,
      limitVersionKey: string,
      versionKey: string,
      cost: number,
      perMinute: number,
      perDay: number,
      readUnder: string,
    ): Result<
      [
        taken: number,
        inMinute: number,
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
 * The windows of all replicas together. While Redis is away each replica counts by itself, from nothing: who is
 * served is never kept waiting for it.
 */
export function createSharedWindows({ client, prefix }: Redis, log: Log): Windows {
  const own = createMemoryWindows();
  let refused = false;
  client.defineCommand('takeFromWindows', { numberOfKeys: 3, lua: SCRIPT });
  return {
    async take(name, cost, limit, versions = {}) {
      try {
        const { perMinute, perDay } = limit;
        // Nothing has the empty name, nor therefore a version other than the empty one.
        const readFrom = versions.limit ?? { name: '', version: '' };
        const [taken, inMinute, inDay, now, limitVersion, version] = await client.takeFromWindows(
          `${prefix}windows:${name}`,
          versionKey(prefix, readFrom.name),
          versionKey(prefix, versions.also ?? ''),
          cost,
          perMinute,
          perDay,
          readFrom.version,
        );
        refused = false;
        return { taken: taken === 1, inMinute, inDay, now, limitVersion, version };
      } catch (err) {
        // That Redis is away is on the log already.
        if (client.status === 'ready' && !refused) {
          refused = true;
          log.error({ err }, 'Redis does not count. Limits are counted by this process alone.');
        }
        return own.take(name, cost, limit);
      }
    },
  };
}
