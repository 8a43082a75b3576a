import { count } from '../../../numbers.ts';
import { duration } from '../../../parts/time.tsx';

/** Good and bad ratings. */
export const ratings = ({ thumbsUp, thumbsDown }: { thumbsUp: number; thumbsDown: number }) =>
  `${count(thumbsUp)}, ${count(thumbsDown)}`;

/** A latency in milliseconds. */
export const latency = (value: number | null) => (value === null ? '–' : duration(value));
