import { expect, test } from 'vitest';
import { createSearches } from '../../src/schema/searches.ts';

const SIGNAL = new AbortController().signal;

test('an account searches once at a time, and another account at the same time', async () => {
  const search = createSearches();
  const first = Promise.withResolvers<string>();
  const started: string[] = [];
  const run = (account: string, name: string, result: Promise<string>) =>
    search(account, SIGNAL, () => {
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
  const held = search('one', SIGNAL, () => {
    begun.resolve();
    return first.promise;
  });
  await begun.promise;
  const late = search('one', SIGNAL, async () => 'late');
  const refused = expect(late).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    retryAfter: 1,
    message: expect.stringContaining('longer than 10 seconds'),
  });
  now = 10_001;
  const next = search('one', SIGNAL, async () => 'next');
  first.resolve('first');
  expect(await held).toBe('first');
  await refused;
  expect(await next).toBe('next');
});

test('a waiting search ends at once when its client disconnects, and the others keep their order', async () => {
  const search = createSearches();
  const first = Promise.withResolvers<string>();
  const client = new AbortController();
  const begun: string[] = [];
  const run = (name: string, signal: AbortSignal, result: Promise<string> | string) =>
    search('one', signal, async () => {
      begun.push(name);
      return result;
    });
  const one = run('first', SIGNAL, first.promise);
  const gone = run('gone', client.signal, 'gone');
  const next = run('next', SIGNAL, 'next');
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  first.resolve('first');
  expect(await Promise.all([one, next])).toEqual(['first', 'next']);
  expect(begun).toEqual(['first', 'next']);
  await expect(run('late', client.signal, 'late')).rejects.toThrow('aborted');
});
