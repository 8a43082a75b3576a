import { beforeEach, describe, expect, test, vi } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createKeyWatchers, findChangedKeys } from '../../src/accounts/key-watchers.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { makeId } from '../../src/text/ids.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { testDatabase } from '../helpers/database.ts';

const { prisma } = await testDatabase();
const log = { warn: () => {}, error: () => {} };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  atTheEnd(() => vi.useRealTimers());
});

/** A key with a watcher. */
async function watchedKey(expiresAt?: Date) {
  const accountId = makeId('acc');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  const row = newApiKey(accountId, makeApiKey(), { name: 'Key', scopes: [], expiresAt });
  const key = await prisma.apiKey.create({ data: row });
  const ended = vi.fn();
  const polled = vi.fn();
  const clock = vi.fn(Date.now);
  const watchers = createKeyWatchers({
    what: 'API keys',
    async findChanged(hashes) {
      const changed = await findChangedKeys(prisma, hashes, clock());
      polled();
      return changed;
    },
    log,
    now: clock,
  });
  const polling = watchers.start();
  atTheEnd(() => polling[Symbol.asyncDispose]());
  atTheEnd(watchers.add(key, ended));
  /** Lets seconds pass until a poll has succeeded, which must report the key. */
  const expectEnded = async () => {
    await expect
      .poll(() => {
        vi.advanceTimersByTime(1_000);
        return polled.mock.calls.length;
      })
      .toBeGreaterThan(0);
    expect(ended).toHaveBeenCalled();
  };
  return { key, clock, watchers, expectEnded };
}

describe('a watched key is reported as ended by the first poll', () => {
  test('when it is revoked and the notification is lost', async () => {
    const { key, expectEnded } = await watchedKey();
    await prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
    await expectEnded();
  });

  test('when it is deleted', async () => {
    const { key, expectEnded } = await watchedKey();
    await prisma.account.delete({ where: { id: key.accountId } });
    await expectEnded();
  });

  test('when its expiry is moved to the past', async () => {
    const { key, expectEnded } = await watchedKey(new Date(Date.now() + 60_000));
    await prisma.apiKey.update({ where: { id: key.id }, data: { expiresAt: new Date() } });
    await expectEnded();
  });

  test('when it loses a right, but not when it is renamed', async () => {
    const { key, watchers, expectEnded } = await watchedKey();
    const { prefix, hash, ...rest } = key;
    const renamed = { ...rest, prefix, id: makeId('key'), hash: `${hash}2` };
    await prisma.apiKey.create({ data: renamed });
    const endedToo = vi.fn();
    atTheEnd(watchers.add(renamed, endedToo));
    await prisma.apiKey.update({ where: { id: renamed.id }, data: { name: 'Other' } });
    await prisma.apiKey.update({ where: { id: key.id }, data: { narrowedAt: new Date() } });
    await expectEnded();
    expect(endedToo).not.toHaveBeenCalled();
  });

  test('when it expires', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { clock, expectEnded } = await watchedKey(expiresAt);
    clock.mockReturnValue(expiresAt.getTime());
    await expectEnded();
  });
});
