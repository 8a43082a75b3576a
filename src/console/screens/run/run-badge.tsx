import type { RunStatus } from '../../../generated/operations/console.ts';
import { Badge } from '../../parts/badge.tsx';
import { STATUSES } from '../../runs/labels.ts';

/** The status of a run. */
export function RunBadge({ status }: { status: RunStatus }) {
  const { word, tone } = STATUSES[status];
  return <Badge tone={tone}>{word}</Badge>;
}
