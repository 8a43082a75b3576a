import { useSyncExternalStore } from 'react';

/** Whether the window is narrower than a number of pixels. */
export function isBelow(pixels: number): boolean {
  return queryOf(pixels).matches;
}

/** Whether the window is narrower than a number of pixels. Renders again when that changes. */
export function useIsBelow(pixels: number): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = queryOf(pixels);
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => isBelow(pixels),
  );
}

const queryOf = (pixels: number) => matchMedia(`(max-width: ${pixels - 1}px)`);
