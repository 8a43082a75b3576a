import type { ToolCallStatus } from '../../generated/operations/console.ts';
import { Status } from '../parts/status.tsx';
import { TOOL_STATUSES } from './labels.ts';

/** The state of a tool call. */
export function ToolStatus({ status }: { status: ToolCallStatus }) {
  const { word, icon, tone } = TOOL_STATUSES[status];
  return (
    <Status icon={icon} tone={tone}>
      {word}
    </Status>
  );
}
