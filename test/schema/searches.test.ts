import { expect, test } from 'vitest';
import { createSearches } from '../../src/schema/searches.ts';

test('an account searches once at a time, and another account at the same time', async () => {
  const search = createSearches();
  const first = Promise.withResolvers<string>();
  const started: string[] = [];
  const run = (account: string, name: string, result: Promise<string>) =>
    search(account, () => {
      started.push(name);
      return result;
    });
  const one = run('one', 'first', first.promise);
  const two = run('one', 'second', Promise.resolve('second'));
  await run('other', 'other', Promise.resolve('other'));
  expect(started).toEqual(['first', 'other']);
  first.resolve('first');
  expect(await Promise.all([one, two])).toEqual(['first', 'second']);
});

test('a search that waited longer than 10 seconds for its account is refused, and the next one runs', async () => {
  let now = 0;
  const search = createSearches(() => now);
  const first = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const held = search('one', () => {
    begun.resolve();
    return first.promise;
  });
  await begun.promise;
  const late = search('one', async () => 'late');
  const refused = expect(late).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    retryAfter: 1,
    message: expect.stringContaining('longer than 10 seconds'),
  });
  now = 10_001;
  const next = search('one', async () => 'next');
  first.resolve('first');
  expect(await held).toBe('first');
  await refused;
  expect(await next).toBe('next');
});
