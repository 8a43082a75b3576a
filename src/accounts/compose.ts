import type { Versions } from '../coordination/cache-versions.ts';
import type { Windows } from '../coordination/fixed-window-counter.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Lifetime } from '../lifetime.ts';
import type { Log } from '../log.ts';
import { createAccounts } from './accounts.ts';
import { createKeyWatchers } from './key-watchers.ts';
import { createKeys } from './keys.ts';
import { createLimits } from './limits.ts';
import { createSessionTokens } from './session-tokens.ts';

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  createWindows(): Windows;
  /** The secret key, then the previous ones. Session tokens are encrypted with them. */
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
  createWindows,
  secretKeys,
  clock: now,
  log,
  lifetime,
}: Parts) {
  const watchers = createKeyWatchers({ prisma, log, now });
  lifetime.onStart(watchers.start);
  const keys = createKeys({ prisma, pubsub, versions, watchers, log, now });
  return {
    accounts: createAccounts({ prisma, versions }),
    keys,
    sessionTokens: createSessionTokens({ secretKeys, keys, now }),
    limits: createLimits({ accounts: createWindows(), addresses: createWindows(), now }),
  };
}
