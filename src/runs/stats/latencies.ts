/** Latencies of finished runs in milliseconds. */
export type Latencies = {
  /** The median. */
  p50: number;
  /** The 95th percentile. */
  p95: number;
};

/** How many runs have a latency: `[latency in ms, runs]`. */
export type LatencyCount = readonly [number, number];

/** Counts of latencies below this are in an array, which is faster than a map. */
const DENSE = 2 ** 16;

/**
 * Encodes how many runs have each latency: the number of latencies, then the difference to the previous latency and the
 * number of runs for each, as variable-length integers of 7 bits in a byte. Several encodings can be concatenated.
 *
 * @param counts in ascending order of latency.
 */
export function encodeLatencies(counts: readonly LatencyCount[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  const write = (value: number) => {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  };
  write(counts.length);
  let previous = 0;
  for (const [latency, runs] of counts) {
    write(latency - previous);
    write(runs);
    previous = latency;
  }
  return Uint8Array.from(bytes);
}

/** Adds up latencies, to compute percentiles of one set of runs after another. */
export function createLatencyCounter() {
  const dense = new Float64Array(DENSE);
  const sparse = new Map<number, number>();
  let total = 0;

  const add = (latency: number, runs: number) => {
    total += runs;
    if (latency < DENSE) dense[latency] = (dense[latency] ?? 0) + runs;
    else sparse.set(latency, (sparse.get(latency) ?? 0) + runs);
  };

  /** The latency at an index of the sorted latencies. */
  const latencyAt = (index: number) => {
    let passed = 0;
    for (let latency = 0; latency < DENSE; latency += 1) {
      passed += dense[latency] ?? 0;
      if (passed > index) return latency;
    }
    for (const [latency, runs] of [...sparse].toSorted(([a], [b]) => a - b)) {
      passed += runs;
      if (passed > index) return latency;
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
    /** Adds the runs of concatenated encodings. */
    addEncoded(bytes: Uint8Array): void {
      let position = 0;
      const read = () => {
        let value = 0;
        for (let factor = 1; ; factor *= 128) {
          const byte = bytes[position] ?? 0;
          position += 1;
          if (byte < 128) return value + byte * factor;
          value += (byte - 128) * factor;
        }
      };
      while (position < bytes.length) {
        let latency = 0;
        for (let left = read(); left > 0; left -= 1) {
          latency += read();
          add(latency, read());
        }
      }
    },

    /** Adds one run for each latency. Each has four bytes, the most significant first. */
    addEach(bytes: Uint8Array): void {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.length; at += 4) add(view.getUint32(at), 1);
    },

    /** Computes the percentiles of the runs added since the last call. Returns `undefined` without runs. */
    take(): Latencies | undefined {
      const taken = total > 0 ? { p50: percentile(0.5), p95: percentile(0.95) } : undefined;
      dense.fill(0);
      sparse.clear();
      total = 0;
      return taken;
    },
  };
}
