import type { RunStatus } from '../../generated/operations/console.ts';
import { Status } from '../parts/status.tsx';
import { STATUSES } from './labels.ts';

/** The status of a run. */
export function RunBadge({ status }: { status: RunStatus }) {
  const { word, icon, tone } = STATUSES[status];
  return (
    <Status icon={icon} tone={tone}>
      {word}
    </Status>
  );
}
