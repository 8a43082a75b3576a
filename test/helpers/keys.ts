import { createKeyWatchers } from '../../src/accounts/key-watchers.ts';
import { createKeys, type Keys } from '../../src/accounts/keys.ts';

type Parts = Omit<Parameters<typeof createKeys>[0], 'watchers' | 'log'>;

/** The API keys of one replica, without the poll for revoked ones. */
export function makeKeys(parts: Parts): Keys {
  const log = { warn: () => {}, error: () => {} };
  const watchers = createKeyWatchers({
    ...parts,
    what: 'API keys',
    findChanged: async () => [],
    log,
  });
  return createKeys({ ...parts, watchers, log });
}
