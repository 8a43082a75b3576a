import { LRUCache } from 'lru-cache';
import { entryLimit } from '../coordination/entry-limit.ts';
import type {
  FixedWindowCounter,
  WindowCount,
  WindowLimit,
} from '../coordination/fixed-window-counter.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Account, Bot } from '../generated/prisma/client.ts';
import { PLANS } from '../vocabulary/plans.ts';
import { networkOf } from './client-network.ts';
import type { KeyOrigin } from './key-lookup.ts';

/** The remaining quota under a limit. Source: the API document, "Limits". */
export type Quota = WindowLimit & {
  /** Whether the cost fit within the limit. A cost that does not fit is not counted. */
  allowed: boolean;
  /** Requests counted in the current minute. */
  inMinute: number;
  /** Requests counted in the current day. */
  inDay: number;
  remainingMinute: number;
  remainingDay: number;
  /** Requests left in the binding window: the one with fewer left, or the one that rejected the cost. */
  remaining: number;
  /** End of that window, in Unix seconds. */
  reset: number;
  /** Whole seconds until then, at least 1. */
  retryAfter: number;
  /** The account's current version, if known. */
  accountVersion: string | undefined;
  /** The current version of the record named in `versioned`, if known. */
  version: string | undefined;
};

/** Requests without a valid key from one address. They have no daily limit. */
export const ADDRESS_LIMIT: WindowLimit = { perMinute: 30, perDay: Number.MAX_SAFE_INTEGER };

/**
 * Requests for static files from one address. A screen loads about thirty, then the browser caches them: a hundred people of an
 * office can open the console in the same minute after an upgrade.
 */
export const FILE_LIMIT: WindowLimit = { perMinute: 3_000, perDay: Number.MAX_SAFE_INTEGER };

/** Reads of one session of the console. They have no daily limit. Source: decisions, section 9. */
export const CONSOLE_LIMIT: WindowLimit = { perMinute: 600, perDay: Number.MAX_SAFE_INTEGER };

/** Operations of visitors from one address in a minute, besides the visits and messages that the bot allows. */
const VISITOR_READS = 10;

/** The name of an account's cache version, which is renewed when the account or one of its keys changes. */
export function accountVersionName(accountId: string): string {
  return `account:${accountId}`;
}

/** Counts requests. A cost is counted whole or not at all; a cost of 0 only reads the quota. */
export type Limits = {
  /**
   * Counts against an account, for all of its keys together.
   *
   * @param versioned name of a cache version to return in the same round trip.
   * @param readUnder the version under which the account was cached. If it is out of date, nothing is counted. Without it,
   *   the version is not checked.
   */
  takeForAccount(
    account: Account,
    cost: number,
    versioned?: string,
    readUnder?: string,
  ): Promise<Quota>;
  /** Counts against the address of a client without a valid key. It never affects accounts. */
  takeForAddress(address: string, cost: number): Promise<Quota>;
  /**
   * Counts an operation of a visitor of a bot against its address, so that one address cannot use up the requests of the
   * account. The limit a minute is the sum of `visitorSessionsPerHour`, `visitorMessagesPerMinute` and 10.
   */
  takeForVisitor(bot: Bot, address: string, cost: number): Promise<Quota>;
  /** Counts a read of the console against the session of its browser. @param session the hash of its token. */
  takeForConsole(session: string, cost: number): Promise<Quota>;
  /** The origin of a credential, from this process's memory alone. */
  originOf(address: string | undefined): Required<KeyOrigin>;
  /** Counts one static file against an address, separately from its requests. */
  takeForFile(address: string): Promise<Quota>;
};

type Parts = {
  accounts: FixedWindowCounter;
  /** Separate counters, so that a flood of addresses cannot evict the counts of accounts. */
  addresses: FixedWindowCounter;
  now?: (() => number) | undefined;
};

const MAX_SPENT = 100_000;

export function createLimits({ accounts, addresses, now = Date.now }: Parts): Limits {
  /** Names of addresses and visitors with no requests left, each with the end of its window in Unix seconds. */
  const spent = new LRUCache<string, number>(entryLimit(MAX_SPENT));
  const isSpent = (name: string) => (spent.get(name) ?? 0) * 1_000 > now();
  const note = (name: string, quota: Quota): Quota => {
    if (quota.remaining === 0) spent.set(name, quota.reset);
    return quota;
  };

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
      return note(network, quotaOf(ADDRESS_LIMIT, cost, count));
    },

    async takeForVisitor(bot, address, cost) {
      const { visitorSessionsPerHour, visitorMessagesPerMinute } = bot;
      const limit = {
        perMinute: visitorSessionsPerHour + visitorMessagesPerMinute + VISITOR_READS,
        perDay: Number.MAX_SAFE_INTEGER,
      };
      const name = visitorName(bot.id, networkOf(address));
      return note(name, quotaOf(limit, cost, await addresses.take(name, cost, limit)));
    },

    async takeForConsole(session, cost) {
      const count = await accounts.take(`console:${session}`, cost, CONSOLE_LIMIT);
      return quotaOf(CONSOLE_LIMIT, cost, count);
    },

    originOf(client) {
      const address = networkOf(client);
      const isSpentFor = (botId: string) => isSpent(visitorName(botId, address));
      return { address, isSpent: isSpent(address), isSpentFor };
    },

    async takeForFile(address) {
      const count = await addresses.take(`files:${networkOf(address)}`, 1, FILE_LIMIT);
      return quotaOf(FILE_LIMIT, 1, count);
    },
  };
}

function visitorName(botId: string, network: string): string {
  return `visitor:${botId}:${network}`;
}

/** The error for a cost that exceeds the limit. */
export function rateLimitExceeded({ perMinute, retryAfter }: Quota, cost = 1): GatewayError {
  const message =
    cost > perMinute
      ? `The operation counts as ${cost} requests, but the limit is ${perMinute} per minute. Split it into smaller operations.`
      : `Too many requests. Wait ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter });
}

/** The request limits of an account. */
export function limitOf({ plan, requestsPerMinute, requestsPerDay }: Account): WindowLimit {
  if (plan !== 'ENTERPRISE') return PLANS[plan].requests;
  // Every ENTERPRISE account has both limits. Fall back to BUSINESS so that a defect cannot lift them.
  const { perMinute, perDay } = PLANS.BUSINESS.requests;
  return { perMinute: requestsPerMinute ?? perMinute, perDay: requestsPerDay ?? perDay };
}

function quotaOf(
  { perMinute, perDay }: WindowLimit,
  cost: number,
  { taken, inMinute, inDay, now, limitVersion, version }: WindowCount,
): Quota {
  const remainingMinute = Math.max(0, perMinute - inMinute);
  const remainingDay = Math.max(0, perDay - inDay);
  // A rejection lasts until the end of the longest window that rejected it.
  const dayBinds = taken ? remainingDay <= remainingMinute : remainingDay < cost;
  const length = dayBinds ? 86_400 : 60;
  const reset = (Math.floor(now / length) + 1) * length;
  return {
    allowed: taken,
    inMinute,
    inDay,
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
