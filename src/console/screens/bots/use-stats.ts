import { useCallback, useEffect, useMemo, useState } from 'react';
import { BotStats, type BotStatsQuery } from '../../../generated/operations/console.ts';
import { endOfMinute } from '../../server/clock.ts';
import { useServerQuery } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { lacks, useScope } from '../../server/viewer.ts';

const HOUR_MS = 60 * 60 * 1_000;

type Numbers = BotStatsQuery['bots']['edges'][number]['node']['stats'];

/** The statistics of a bot's last day, or the reason why they are missing. */
export type Stats =
  | { state: 'known'; numbers: Numbers }
  | { state: 'reading' }
  | { state: 'unknown'; reason: string };

/** The last 24 hours of the bots of one page, read anew when the tab is shown again. */
export function useStats(page: { first: number; after: string | null }): { of(id: string): Stats } {
  const mayRead = useScope('RUNS');
  const [now, setNow] = useState(endOfMinute);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') setNow(endOfMinute());
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  const period = {
    from: new Date(now - 24 * HOUR_MS).toISOString(),
    to: new Date(now).toISOString(),
  };
  const { data, problem } = useServerQuery(BotStats, { ...page, ...period }, { pause: !mayRead });
  const known = useMemo(
    () => new Map(data?.bots.edges.map(({ node }) => [node.id, node.stats])),
    [data],
  );
  const of = useCallback(
    (id: string): Stats => {
      const numbers = known.get(id);
      if (numbers) return { state: 'known', numbers };
      if (!mayRead) return { state: 'unknown', reason: lacks('RUNS') };
      return problem ? { state: 'unknown', reason: reasonOf(problem) } : { state: 'reading' };
    },
    [known, mayRead, problem],
  );
  return { of };
}

function reasonOf({ message, requestId }: Problem): string {
  return requestId ? `${message} (${requestId})` : message;
}
