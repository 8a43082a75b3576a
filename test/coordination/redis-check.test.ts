import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { openRedis } from '../../src/coordination/redis.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { linkRedis } from '../helpers/redis.ts';

const redisUrl = inject('redisUrl');

/** The second that a command has is shorter than a pause of a busy machine. */
const LONG_LIMITS = { commandTimeout: 240_000, socketTimeout: 240_000 };

/** Opens Redis as a new user with these rights. `npm run test:cluster` plays replicas, clusters and full servers. */
async function openAs(...rights: string[]) {
  const { redis } = await linkRedis();
  const name = `parley-test-${randomUUID()}`;
  const all = ['on', '>hunter2', '~*', '&*', '+@all'];
  await redis.client.call('ACL', 'SETUSER', name, ...all, ...rights);
  atTheEnd(() => redis.client.call('ACL', 'DELUSER', name));
  const url = Object.assign(new URL(redisUrl), { username: name, password: 'hunter2' });
  const opened = await openRedis(url.href, redis.prefix);
  for (const { options } of [opened.client, opened.subscriber]) Object.assign(options, LONG_LIMITS);
  atTheEnd(opened.close);
  return opened;
}

describe.skipIf(!redisUrl)('a check of Redis', () => {
  test('finds no problem with all rights', async () => {
    const redis = await openAs();
    expect(redis.state()).toEqual({ problem: undefined, isSupported: true, warnings: [] });
    expect(redis.isDegraded()).toBe(false);
    await redis.ping();
  });

  test.each([
    ['-@scripting', 'Redis does not let this user execute scripts.'],
    ['-set', 'Redis does not let this user execute scripts.'],
    ['-publish', 'Redis does not let this user publish and subscribe.'],
    ['resetchannels', 'Redis does not let this user publish and subscribe.'],
  ])('explains missing rights, %s', async (right, problem) => {
    const redis = await openAs(right);
    expect(redis.state().problem).toBe(problem);
    expect(redis.isDegraded()).toBe(true);
    await expect(redis.ping()).rejects.toThrow(problem);
    const lines: string[] = [];
    const log = { warn: () => {}, error: (_fields: object, line: string) => lines.push(line) };
    await using _watch = redis.watch(log);
    expect(lines).toEqual([`${problem} This process counts limits in its own memory.`]);
  });

  test('warns if it cannot learn the version', async () => {
    const redis = await openAs('-info');
    expect(redis.state()).toMatchObject({
      problem: undefined,
      warnings: [expect.stringMatching(/^Redis does not let this user execute INFO/)],
    });
  });

  test('works with the rights that the documentation lists', async () => {
    const listed = '+@scripting +@pubsub +@read +@write +info +ping ~parley:* &parley:*';
    const redis = await openAs('resetkeys', 'resetchannels', '-@all', ...listed.split(' '));
    expect(redis.state()).toEqual({ problem: undefined, isSupported: true, warnings: [] });
  });
});
