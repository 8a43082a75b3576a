/** The page may be busy for so long before the work begins, in milliseconds. */
const LONGEST_WAIT_MS = 3_000;

/** Does something that no screen waits for when the page has nothing else to do. @returns a function that cancels it. */
export function whenIdle(work: () => void): () => void {
  // Safari does not report when a page is idle.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(work, LONGEST_WAIT_MS);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(work, { timeout: LONGEST_WAIT_MS });
  return () => cancelIdleCallback(request);
}
