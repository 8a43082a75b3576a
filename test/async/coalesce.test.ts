import { describe, expect, test } from 'vitest';
import { createCoalesced } from '../../src/async/coalesce.ts';

describe('simultaneous loads of one key', () => {
  const open = () => {
    const loads: { key: string; resolve(value: string): void; reject(error: Error): void }[] = [];
    const load = createCoalesced((key) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      loads.push({ key, resolve, reject });
      return promise;
    });
    return { load, loads };
  };

  test('are coalesced, with one more load for later callers', async () => {
    const { load, loads } = open();
    const first = load('a');
    const others = Array.from({ length: 50 }, () => load('a'));
    expect(loads).toHaveLength(1);
    loads[0]?.resolve('before');
    expect(await first).toBe('before');
    await expect.poll(() => loads.length).toBe(2);
    loads[1]?.resolve('after');
    expect(await Promise.all(others)).toEqual(Array(50).fill('after'));
    void load('a');
    expect(loads).toHaveLength(3);
  });

  test('do not wait for loads of other keys', () => {
    const { load, loads } = open();
    void load('a');
    void load('b');
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('are repeated for later callers if they failed', async () => {
    const { load, loads } = open();
    const [first, second] = [load('a'), load('a')];
    loads[0]?.reject(new Error('No answer.'));
    await expect(first).rejects.toThrow('No answer.');
    await expect.poll(() => loads.length).toBe(2);
    loads[1]?.resolve('after');
    expect(await second).toBe('after');
  });
});
