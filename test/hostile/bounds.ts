/** What an attacked server must keep. Times are in milliseconds. */
export type Bounds = {
  /** The 99th percentile of an honest chat. */
  chatMs: number;
  /** The longest stall of the event loop, see `stallOf`. */
  stallMs: number;
  /** The resident set of the server's process, in MiB. */
  memoryMebibytes: number;
  /** How much one document makes the resident set grow, in MiB. */
  growthMebibytes: number;
  /** Bytes of one answer, and of one event. */
  answerBytes: number;
};

const BOUNDS: Bounds = {
  chatMs: 2_000,
  stallMs: 250,
  memoryMebibytes: 700,
  growthMebibytes: 200,
  answerBytes: 16 * 1024 * 1024,
};

/**
 * A short run proves that no document and no attack ends the server or hangs it, also on a busy machine with two cores,
 * where the same work takes up to three times the CPU time. So its bounds are wider than the bounds of a long run.
 */
const SHORT: Bounds = {
  ...BOUNDS,
  chatMs: 20_000,
  stallMs: 2_500,
  memoryMebibytes: 1_300,
  growthMebibytes: 600,
};

/**
 * PGlite's memory beside the heap: 200 MiB of WebAssembly memory, and 100 MiB for the compilation of its code and for the
 * rows that it returns.
 */
const EMBEDDED_MEBIBYTES = 300;

export function boundsFor(isShort: boolean, { isEmbedded = false } = {}): Bounds {
  const bounds = isShort ? SHORT : BOUNDS;
  const more = isEmbedded ? EMBEDDED_MEBIBYTES : 0;
  return { ...bounds, memoryMebibytes: bounds.memoryMebibytes + more };
}
