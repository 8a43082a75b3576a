import { useState } from 'react';
import { useNow } from '../../parts/use-now.ts';
import { endOfMinute, serverNow } from '../../server/clock.ts';
import { useVisible } from '../../server/visible.ts';

const MINUTE_MS = 60_000;

export type PeriodEnd = {
  /** In milliseconds since the epoch. */
  now: number;
  /** Moves the end to the present time. */
  move(): void;
};

/**
 * The end of a period that ends now. It moves a minute after the first change since it moved, so that a quiet list sends
 * no requests.
 *
 * @param chosenAt when the period was chosen, in milliseconds since the epoch.
 * @param changes the number of changes so far.
 * @param isOn whether it moves by itself. In a hidden tab it does not.
 */
export function usePeriodEnd(chosenAt: number, changes: number, isOn: boolean): PeriodEnd {
  const isVisible = useVisible();
  const [moved, setMoved] = useState({ to: chosenAt, changes });
  const [asked, setAsked] = useState(chosenAt);
  const minute = useNow(endOfMinute, MINUTE_MS, isOn && isVisible && changes !== moved.changes);
  const now = Math.max(chosenAt, asked, minute);
  if (now !== moved.to) setMoved({ to: now, changes });
  // Later than the end of this minute, to which it may have moved before.
  return { now, move: () => setAsked(serverNow() + MINUTE_MS) };
}
