import { beforeEach, describe, test, vi } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createKeyWatchers } from '../../src/accounts/key-watchers.ts';
import { newApiKey } from '../../src/accounts/keys.ts';
import { makeId } from '../../src/ids.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { testDatabase } from '../helpers/database.ts';

const { prisma } = await testDatabase();
const log = { warn: () => {}, error: () => {} };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  atTheEnd(() => vi.useRealTimers());
});

/** A key that somebody waits for. */
async function watchedKey(expiresAt?: Date) {
  const accountId = makeId('acc');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  const row = newApiKey(accountId, makeApiKey(), { name: 'Key', scopes: [], expiresAt });
  const key = await prisma.apiKey.create({ data: row });
  const ended = Promise.withResolvers<void>();
  const clock = vi.fn(Date.now);
  const watchers = createKeyWatchers({ prisma, log, now: clock });
  const polling = watchers.start();
  atTheEnd(() => polling[Symbol.asyncDispose]());
  atTheEnd(watchers.add(key, ended.resolve));
  return { key, clock, ended: ended.promise };
}

describe('the end of a key that somebody waits for is known within a second', () => {
  test('where it is revoked, and the word of it is lost', async () => {
    const { key, ended } = await watchedKey();
    await prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
    vi.advanceTimersByTime(1_000);
    await ended;
  });

  test('where it expires', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { clock, ended } = await watchedKey(expiresAt);
    clock.mockReturnValue(expiresAt.getTime());
    vi.advanceTimersByTime(1_000);
    await ended;
  });
});
