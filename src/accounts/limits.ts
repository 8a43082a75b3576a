import { LRUCache } from 'lru-cache';
import type { WindowCount, WindowLimit, Windows } from '../coordination/fixed-window-counter.ts';
import { GatewayError } from '../errors.ts';
import type { Account, Plan } from '../generated/prisma/client.ts';

/** What is left of a limit. Source: the API document, "Limits". */
export type Quota = WindowLimit & {
  /** Whether what was to be counted fitted. What does not fit costs nothing. */
  allowed: boolean;
  remainingMinute: number;
  remainingDay: number;
  /** What is left in the window that binds: the one with less left, or the one that refused. */
  remaining: number;
  /** When that window ends, in Unix seconds. */
  reset: number;
  /** Whole seconds until then, at least 1. */
  retryAfter: number;
  /** The account's current version; none where it is not known. */
  accountVersion: string | undefined;
  /** The current version of what was asked for along with the count; none where it is not known. */
  version: string | undefined;
};

/** Requests by plan. `ENTERPRISE` has numbers of its own. */
export const PLAN_LIMITS: Record<Exclude<Plan, 'ENTERPRISE'>, WindowLimit> = {
  FREE: { perMinute: 10, perDay: 1_000 },
  PRO: { perMinute: 60, perDay: 20_000 },
  BUSINESS: { perMinute: 300, perDay: 200_000 },
};

/** What comes without a valid key, from one address. No day binds it. */
export const ADDRESS_LIMIT: WindowLimit = { perMinute: 30, perDay: Number.MAX_SAFE_INTEGER };

/** Static files without data, for one address. A page takes about a dozen, once. */
export const FILE_LIMIT: WindowLimit = { perMinute: 300, perDay: Number.MAX_SAFE_INTEGER };

/** The name of an account's version: it is renewed when the account changes, or one of its keys. */
export function accountVersionName(accountId: string): string {
  return `account:${accountId}`;
}

/** Counts requests, all or nothing. A cost of 0 only looks. */
export type Limits = {
  /**
   * Counts for an account, whichever of its keys is used.
   *
   * @param versioned what to tell the version of, in the same round trip.
   * @param readUnder the version under which the account was read: under any other one nothing is counted. Without it, the
   *   account counts as it is.
   */
  takeForAccount(
    account: Account,
    cost: number,
    versioned?: string,
    readUnder?: string,
  ): Promise<Quota>;
  /** Counts for a client without a valid key. It never touches what accounts have. */
  takeForAddress(address: string, cost: number): Promise<Quota>;
  /** Whether an address has no requests left in this minute, as far as this process knows. It asks nobody. */
  isSpent(address: string): boolean;
  /** Counts one static file for an address, apart from its requests. */
  takeForFile(address: string): Promise<Quota>;
};

type Parts = {
  accounts: Windows;
  /** Apart, where names are forgotten, so that no flood of addresses makes room among accounts. */
  addresses: Windows;
  now?: (() => number) | undefined;
};

const MAX_SPENT = 100_000;

export function createLimits({ accounts, addresses, now = Date.now }: Parts): Limits {
  /** When the windows end of the addresses that have nothing left, in Unix seconds. */
  const spent = new LRUCache<string, number>({ max: MAX_SPENT });

  return {
    async takeForAccount(account, cost, versioned, readUnder) {
      const limit = limitOf(account);
      const readFrom =
        readUnder === undefined
          ? undefined
          : { name: accountVersionName(account.id), version: readUnder };
      const versions = { limit: readFrom, also: versioned };
      return quotaOf(limit, cost, await accounts.take(account.id, cost, limit, versions));
    },

    async takeForAddress(address, cost) {
      const network = networkOf(address);
      const count = await addresses.take(network, cost, ADDRESS_LIMIT);
      const quota = quotaOf(ADDRESS_LIMIT, cost, count);
      if (quota.remaining === 0) spent.set(network, quota.reset);
      return quota;
    },

    isSpent: (address) => (spent.get(networkOf(address)) ?? 0) * 1_000 > now(),

    async takeForFile(address) {
      const count = await addresses.take(`files:${networkOf(address)}`, 1, FILE_LIMIT);
      return quotaOf(FILE_LIMIT, 1, count);
    },
  };
}

/** The refusal of what does not fit in a limit. */
export function rateLimitExceeded({ perMinute, retryAfter }: Quota, cost = 1): GatewayError {
  const message =
    cost > perMinute
      ? `The operation counts as ${cost} requests, more than the ${perMinute} of a whole minute. Divide it.`
      : `Too many requests. Wait ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter });
}

function limitOf({ plan, requestsPerMinute, requestsPerDay }: Account): WindowLimit {
  if (plan !== 'ENTERPRISE') return PLAN_LIMITS[plan];
  // No account is made without its two numbers; one that is, is not left without a limit.
  const { perMinute, perDay } = PLAN_LIMITS.BUSINESS;
  return { perMinute: requestsPerMinute ?? perMinute, perDay: requestsPerDay ?? perDay };
}

function quotaOf(
  { perMinute, perDay }: WindowLimit,
  cost: number,
  { taken, inMinute, inDay, now, limitVersion, version }: WindowCount,
): Quota {
  const remainingMinute = Math.max(0, perMinute - inMinute);
  const remainingDay = Math.max(0, perDay - inDay);
  // A refusal lasts until the longer of the windows that refused is over.
  const dayBinds = taken ? remainingDay <= remainingMinute : remainingDay < cost;
  const length = dayBinds ? 86_400 : 60;
  const reset = (Math.floor(now / length) + 1) * length;
  return {
    allowed: taken,
    perMinute,
    perDay,
    remainingMinute,
    remainingDay,
    remaining: dayBinds ? remainingDay : remainingMinute,
    reset,
    retryAfter: reset - now,
    accountVersion: limitVersion,
    version,
  };
}

/**
 * What counts as one client: an IPv4 address, or the 64 bits of an IPv6 network, which one client has whole. A port
 * behind it, as some proxies write it, does not count.
 */
export function networkOf(client: string): string {
  const address = client.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!address.includes(':')) return address;
  const [left = '', right] = address.split('%')[0]?.split('::') ?? [];
  const head = left ? left.split(':') : [];
  const tail = right ? right.split(':') : [];
  const zeros = right === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array<string>(zeros).fill('0'), ...tail].slice(0, 4).join(':');
}
