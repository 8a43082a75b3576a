import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { levelOf, levelsFrom } from '../../../src/runs/list/levels.ts';
import { testDatabase } from '../../helpers/database.ts';

describe('the levels of numbers', () => {
  test('equal the levels that the database computes', async () => {
    const { prisma } = await testDatabase();
    const random = fc.sample(fc.integer({ min: 0, max: 2 ** 32 - 2 }), 300);
    const numbers = [0, 1, 9, 10, 14, 15, 99, 100, 149, 150, 999, 2_147_483_647, ...random];
    const rows = await prisma.$queryRaw<{ value: bigint; level: bigint }[]>`
      SELECT value, run_level(value) AS level FROM unnest(${numbers}::bigint[]) AS value`;
    expect(rows.map(({ level }) => Number(level))).toEqual(numbers.map(levelOf));
  });

  test('from a minimum on include the level of each larger number, and of no smaller one', () => {
    const number = fc.integer({ min: 1, max: 2 ** 32 - 2 });
    fc.assert(
      fc.property(number, number, (least, value) => {
        const has = levelsFrom(least).includes(levelOf(value));
        expect(has).toBe(levelOf(value) >= levelOf(least));
        if (value >= least) expect(has).toBe(true);
      }),
    );
    expect(levelsFrom(1).length).toBeLessThan(180);
  });
});
