import type { Lifetime } from '../async/lifetime.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import type { FixedWindowCounter } from '../coordination/fixed-window-counter.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import {
  type ConsoleSessions,
  createConsoleSessions,
  findEndedSessions,
} from './console-sessions.ts';
import { createKeyLookups, type KeyLookups } from './key-lookup.ts';
import { createKeyWatchers, findChangedKeys } from './key-watchers.ts';
import { createKeys, type Keys } from './keys.ts';
import { createLimits, type Limits } from './limits.ts';
import { createSessionTokens, type SessionTokens } from './session-tokens.ts';
import { createSignInCodes, type SignInCodes } from './sign-in-codes.ts';
import { createFindVisited, type FindVisited, findClosedPages } from './visitors.ts';

/** The composed domain of accounts. */
export type AccountsDomain = {
  accounts: Accounts;
  keys: Keys;
  sessionTokens: SessionTokens;
  findVisited: FindVisited;
  lookUps: KeyLookups;
  consoleSessions: ConsoleSessions;
  signInCodes: SignInCodes;
  limits: Limits;
};

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  createCounter(): FixedWindowCounter;
  /** The secret key, then the previous ones. They encrypt session tokens, and sign cookies and sign-in codes. */
  secretKeys: Uint8Array[];
  /** Milliseconds since the epoch. */
  clock?: (() => number) | undefined;
  log: Log;
  lifetime: Lifetime;
};

export function createAccountsDomain({
  prisma,
  pubsub,
  versions,
  createCounter,
  secretKeys,
  clock: now = Date.now,
  log,
  lifetime,
}: Parts): AccountsDomain {
  const keyWatchers = createKeyWatchers({
    what: 'API keys',
    findChanged: (hashes) => findChangedKeys(prisma, hashes, now()),
    log,
    now,
  });
  lifetime.onStart(keyWatchers.start);
  const sessionWatchers = createKeyWatchers({
    what: 'console sessions',
    findChanged: (hashes) => findEndedSessions(prisma, hashes, now()),
    log,
    now,
  });
  lifetime.onStart(sessionWatchers.start);
  const visitorWatchers = createKeyWatchers({
    what: 'bots of visitors',
    findChanged: (botIds) => findClosedPages(prisma, botIds),
    log,
    now,
  });
  lifetime.onStart(visitorWatchers.start);
  const watch: Keys['watch'] = (caller, ended) =>
    caller.session?.visited
      ? visitorWatchers.add(caller.key, ended)
      : consoleSessions.watch(caller, ended);
  const lookUps = createKeyLookups(now);
  const findVisited = createFindVisited({ prisma, lookUps });
  const keys = createKeys({ prisma, pubsub, versions, watchers: keyWatchers, lookUps, log, now });
  const consoleSessions = createConsoleSessions({
    prisma,
    keys,
    pubsub,
    watchers: sessionWatchers,
    lookUps,
    secretKeys,
    log,
    now,
  });
  return {
    accounts: createAccounts({ prisma, versions }),
    // Streams watch their caller, who may have a console session or be a visitor.
    keys: { ...keys, watch },
    sessionTokens: createSessionTokens({ secretKeys, keys, findVisited, now }),
    findVisited,
    lookUps,
    consoleSessions,
    signInCodes: createSignInCodes({ prisma, keys, lookUps, secretKeys, now }),
    limits: createLimits({ accounts: createCounter(), addresses: createCounter(), now }),
  };
}
