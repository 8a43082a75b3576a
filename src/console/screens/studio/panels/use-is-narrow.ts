import { useSyncExternalStore } from 'react';

/** The width below which the editor and the panels take turns, as in `studio.css`. */
const narrow = matchMedia('(max-width: 899px)');

function subscribe(changed: () => void): () => void {
  narrow.addEventListener('change', changed);
  return () => narrow.removeEventListener('change', changed);
}

export const isNarrow = (): boolean => narrow.matches;

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, isNarrow);
}
