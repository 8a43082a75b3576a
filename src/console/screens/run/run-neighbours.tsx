import { useMemo } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { RunNeighbours as Neighbours } from '../../../generated/operations/console.ts';
import { IconButton } from '../../parts/button.tsx';
import { useShortcuts } from '../../parts/use-shortcuts.ts';
import { filterAt, readFilters, runAddress } from '../../runs/filter.ts';
import { endOfMinute } from '../../server/clock.ts';
import { useServerQuery } from '../../server/operations.ts';
import type { ShownRun } from './use-run.ts';

const LOADING = 'Reading the runs before and after this one.';
/** A page of a search may end before it has an entry. */
const SEARCHED = 'The search found no run near this one. The list searches further.';

/** Leads to the runs before and after a run in the list with the filters of the address, also by the keys J and K. */
export function RunNeighbours({ run: { bot, cursor } }: { run: ShownRun }) {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const filters = runAddress('', search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `filters` changes exactly when the filters of `search` change
  const filter = useMemo(() => filterAt(readFilters(search), endOfMinute()), [filters]);
  const { data } = useServerQuery(Neighbours, { botId: bot.id, cursor, filter });
  const newer = data?.newer.edges[0]?.node.id;
  const older = data?.older.edges[0]?.node.id;
  const isNewest = data && !data.newer.pageInfo.hasPreviousPage;
  const isOldest = data && !data.older.pageInfo.hasNextPage;
  const open = (id: string | undefined) => {
    if (!id) return;
    const next = new URLSearchParams(search);
    next.delete('span');
    navigate(`/runs/${id}${next.size > 0 ? `?${next}` : ''}`, { replace: true });
  };
  useShortcuts({ k: () => open(newer), j: () => open(older) });
  return (
    <span className="run-neighbours">
      <IconButton
        label="Newer run (K)"
        icon="up"
        unavailable={!newer && (isNewest ? 'There is no newer run.' : data ? SEARCHED : LOADING)}
        onClick={() => open(newer)}
      />
      <IconButton
        label="Older run (J)"
        icon="down"
        unavailable={!older && (isOldest ? 'There is no older run.' : data ? SEARCHED : LOADING)}
        onClick={() => open(older)}
      />
    </span>
  );
}
