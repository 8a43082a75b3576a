/** The pause after a first failed attempt. */
export const FIRST_PAUSE_MS = 1_000;
export const MAX_PAUSE_MS = 60_000;
/** Attempts at what fails for an unknown reason, about a quarter of an hour. */
export const MAX_ATTEMPTS = 20;

/** @returns milliseconds until the next attempt. */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 10), MAX_PAUSE_MS);
}
