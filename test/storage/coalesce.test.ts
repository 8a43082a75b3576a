import { describe, expect, test } from 'vitest';
import { createCoalesced } from '../../src/storage/coalesce.ts';

describe('what many ask for at once', () => {
  const open = () => {
    const loads: { key: string; resolve(value: string): void; reject(error: Error): void }[] = [];
    const ask = createCoalesced((key) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      loads.push({ key, resolve, reject });
      return promise;
    });
    return { ask, loads };
  };

  test('is loaded once, and once more for those who asked meanwhile', async () => {
    const { ask, loads } = open();
    const first = ask('a');
    const others = Array.from({ length: 50 }, () => ask('a'));
    expect(loads).toHaveLength(1);
    loads[0]?.resolve('before');
    expect(await first).toBe('before');
    await expect.poll(() => loads.length).toBe(2);
    loads[1]?.resolve('after');
    expect(await Promise.all(others)).toEqual(Array(50).fill('after'));
    void ask('a');
    expect(loads).toHaveLength(3);
  });

  test('does not wait for what others ask for', () => {
    const { ask, loads } = open();
    void ask('a');
    void ask('b');
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('is loaded again for those who asked meanwhile where it failed', async () => {
    const { ask, loads } = open();
    const [first, second] = [ask('a'), ask('a')];
    loads[0]?.reject(new Error('No answer.'));
    await expect(first).rejects.toThrow('No answer.');
    await expect.poll(() => loads.length).toBe(2);
    loads[1]?.resolve('after');
    expect(await second).toBe('after');
  });
});
