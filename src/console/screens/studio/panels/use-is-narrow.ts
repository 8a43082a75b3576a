import { isBelow, useIsBelow } from '../../../parts/use-is-below.ts';

/** The width below which the editor and the panels take turns, as in `studio.css`. */
const NARROW = 900;

export const isNarrow = (): boolean => isBelow(NARROW);

export const useIsNarrow = (): boolean => useIsBelow(NARROW);
