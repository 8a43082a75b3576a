import type { ListedApprovalFragment } from '../../generated/operations/console.ts';
import { Status } from '../parts/status.tsx';
import { ToolStatus } from '../tool-calls/tool-status.tsx';
import { APPROVAL_STATES } from './labels.ts';

/** The state of an approval, and the state of its call if it was sent and has no result. */
export function ApprovalState({
  approval: { status, call },
}: {
  approval: Pick<ListedApprovalFragment, 'status' | 'call'>;
}) {
  const { word, icon, tone } = APPROVAL_STATES[status];
  const isNotable =
    status === 'APPROVED' && call && !['COMPLETED', 'WAITING'].includes(call.status);
  return (
    <>
      <Status icon={icon} tone={tone}>
        {word}
      </Status>
      {isNotable && <ToolStatus status={call.status} />}
    </>
  );
}
