import { useEffect, useState } from 'react';

/** The time of a clock, read again every `everyMs` milliseconds while it is needed. */
export function useNow(readClock: () => number, everyMs: number, isNeeded = true): number {
  const [now, setNow] = useState(readClock);
  useEffect(() => {
    if (!isNeeded) return undefined;
    const timer = setInterval(() => setNow(readClock()), everyMs);
    return () => clearInterval(timer);
  }, [readClock, everyMs, isNeeded]);
  return now;
}
