import { useLocation } from 'wouter';
import type { RunFilter } from '../../../generated/operations/console.ts';
import { draftAddress, type ReplayedRuns } from '../../evaluations/replayed-runs.ts';
import { IconButton } from '../../parts/button.tsx';
import type { Filters } from '../../runs/filter.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** How many runs are repeated. */
const LAST = 50;

/** Opens the Studio to repeat the newest runs of the list with its draft. */
export function ReplayButton({
  botId,
  filters: { values },
  filter,
}: {
  botId: string;
  filters: Filters;
  filter: RunFilter;
}) {
  const [, navigate] = useLocation();
  const mayDeploy = useScope('DEPLOY');
  const open = () => {
    const conditions = Object.entries(values).map(([name, value]) => `${name} ${value}`);
    const which = conditions.length === 0 ? 'all runs' : `runs with ${conditions.join(', ')}`;
    const runs: ReplayedRuns = {
      replay: { filter, last: LAST },
      label: `The last ${LAST} ${which}`,
    };
    navigate(draftAddress(botId, filter.environment ?? 'PRODUCTION'), { state: { runs } });
  };
  return (
    <IconButton
      label="Replay these with the draft"
      icon="tests"
      unavailable={
        (!mayDeploy && lacks('DEPLOY')) ||
        (filter.kind === 'DRAFT' && 'Chats with drafts are not repeated.')
      }
      onClick={open}
    />
  );
}
