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

/** A busy machine is slower, but not as slow as a server that hangs. */
const SLACK = 4;

/** The bounds of a run. A short run has longer times, and the same sizes. */
export function boundsFor(isShort: boolean): Bounds {
  if (!isShort) return BOUNDS;
  return { ...BOUNDS, chatMs: BOUNDS.chatMs * SLACK, stallMs: BOUNDS.stallMs * SLACK };
}
