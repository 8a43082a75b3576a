import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import {
  createLatencyCounter,
  encodedLatency,
  estimateOf,
  joinedLatencies,
  latencyRange,
} from '../../../src/runs/stats/latencies.ts';
import type { Database } from '../../../src/storage/database.ts';
import { testDatabase } from '../../helpers/database.ts';
import { runsOf } from '../../helpers/rounds.ts';

const MAX_INT = 2 ** 31 - 1;
/** The largest difference between an estimate and a latency, as a share of the latency. */
const ERROR = 0.01;

let database: Database;
beforeAll(async () => {
  database = await testDatabase();
});

const RANGE = latencyRange(Prisma.sql`latency::int`);

describe('estimates of latencies', () => {
  test('are within 1 % of every latency, and exact below 50 ms', async () => {
    const rows = await database.prisma.$queryRaw<{ latency: number; range: number }[]>`
      SELECT latency::float8 AS latency, ${RANGE} AS range FROM (
        SELECT generate_series(0, 30000) AS latency
        UNION ALL SELECT floor(30000 * 1.001 ^ n) + d FROM generate_series(0, 11180) AS n, generate_series(-1, 1) AS d
        UNION ALL SELECT ${MAX_INT}
      ) AS every WHERE latency <= ${MAX_INT}`;
    expect(rows.length).toBeGreaterThan(60_000);
    for (const { latency, range } of rows) {
      const error = Math.abs(estimateOf(range) - latency);
      if (error > (latency < 50 ? 0 : ERROR * latency)) expect.fail(`${latency} ms: ${range}`);
    }
    expect(rows.at(-1)?.latency).toBe(MAX_INT);
  });

  test('give percentiles within 1 % of those that PostgreSQL computes, also as several encodings', async () => {
    const latency = fc.oneof(fc.nat(100), fc.nat(20_000), fc.nat(MAX_INT));
    const counter = createLatencyCounter();
    await fc.assert(
      fc.asyncProperty(fc.array(latency, { minLength: 1, maxLength: 60 }), async (latencies) => {
        const [row] = await database.prisma.$queryRaw<
          { p50: number; p95: number; each: string; counted: string; gone: string }[]
        >`
          SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY latency) AS p50,
            percentile_cont(0.95) WITHIN GROUP (ORDER BY latency) AS p95,
            ${joinedLatencies(encodedLatency(RANGE, Prisma.sql`1`))} AS each,
            ${joinedLatencies(encodedLatency(RANGE, Prisma.sql`3`))} AS counted,
            ${joinedLatencies(encodedLatency(RANGE, Prisma.sql`-3`))} AS gone
          FROM unnest(${latencies}::int[]) AS latency`;
        if (!row) throw new Error('There is no row.');
        counter.add(row.each);
        const taken = counter.take();
        expect(taken).toBeDefined();
        for (const name of ['p50', 'p95'] as const) {
          const error = Math.abs((taken?.[name] ?? Number.NaN) - row[name]);
          // The sum of two doubles may be rounded.
          expect(error).toBeLessThanOrEqual(ERROR * row[name] + Number.EPSILON * row[name]);
        }
        for (const part of [row.counted, row.each, row.gone]) counter.add(part);
        expect(counter.take()).toEqual(taken);
      }),
      runsOf(100),
    );
  });

  test('do not exist without runs', () => {
    const counter = createLatencyCounter();
    counter.add('');
    expect(counter.take()).toBeUndefined();
  });
});
