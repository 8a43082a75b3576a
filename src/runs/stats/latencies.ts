import { Prisma } from '../../generated/prisma/client.ts';

/** Estimates of percentiles of the latency of finished runs in milliseconds, at most 1 % above or below the exact ones. */
export type Latencies = {
  /** The median. */
  p50: number;
  /** The 95th percentile. */
  p95: number;
};

/** Latencies below this have a range each, so that they are exact. */
const EXACT_MS = 50;
const EXACT = Prisma.raw(String(EXACT_MS));
/** Each other range ends this many times above its start. */
const GROWTH = 1.02;
/** More than the number of ranges of PostgreSQL's `integer`. */
const RANGES = 1_000;
/** Bytes of a range with its number of runs: an integer of two bytes and one of four, the most significant byte first. */
const ENTRY_BYTES = 6;

/**
 * The number of the range that contains a latency, as SQL; null for null. PostgreSQL takes longer to call the function
 * `run_latency_range` of the migrations, which has the same body.
 */
export function latencyRange(latency: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    (CASE
      WHEN ${latency} < ${EXACT} THEN GREATEST(${latency}, 0)
      ELSE ${EXACT} + floor(ln(${latency} / ${EXACT}::float8) / ln(${Prisma.raw(String(GROWTH))}::float8))
    END)::smallint`;
}

/** Encodes a range with its number of runs, as SQL. Encodings can be concatenated; null without a range. */
export function encodedLatency(range: Prisma.Sql, runs: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`int2send(${range}) || int4send((${runs})::int)`;
}

/** Concatenates the encodings of a group, as SQL. Text in base64 takes half the time of bytes. */
export function joinedLatencies(encoded: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`encode(string_agg(${encoded}, ''), 'base64')`;
}

/** The latency that represents a range. It differs from each whole number in the range by at most 1 %. */
export function estimateOf(range: number): number {
  if (range < EXACT_MS) return range;
  const startOf = (at: number) => Math.ceil(EXACT_MS * GROWTH ** (at - EXACT_MS));
  const [first, last] = [startOf(range), startOf(range + 1) - 1];
  return (2 * first * last) / (first + last);
}

/** Adds up encodings in base64, to estimate percentiles of one set of runs after another. */
export function createLatencyCounter() {
  const counts = new Float64Array(RANGES);
  let total = 0;

  /** The estimate of the latency at an index of the sorted latencies. */
  const latencyAt = (index: number) => {
    let passed = 0;
    for (let range = 0; range < RANGES; range += 1) {
      passed += counts[range] ?? 0;
      if (passed > index) return estimateOf(range);
    }
    throw new RangeError(`There are no more than ${total} latencies.`);
  };

  /** As `percentile_cont` of PostgreSQL. */
  const percentile = (fraction: number) => {
    const place = fraction * (total - 1);
    const below = latencyAt(Math.floor(place));
    return below + (place % 1) * (latencyAt(Math.ceil(place)) - below);
  };

  return {
    add(encoded: string): void {
      const bytes = Buffer.from(encoded, 'base64');
      for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
        const range = bytes.readUInt16BE(at);
        const runs = bytes.readInt32BE(at + 2);
        counts[range] = (counts[range] ?? 0) + runs;
        total += runs;
      }
    },

    /** Estimates the percentiles of the runs added since the last call. Returns `undefined` without runs. */
    take(): Latencies | undefined {
      const taken = total > 0 ? { p50: percentile(0.5), p95: percentile(0.95) } : undefined;
      counts.fill(0);
      total = 0;
      return taken;
    },
  };
}
