import { Status } from '../../parts/status.tsx';
import type { ShownRun } from './use-run.ts';

/** How many tool calls of a run failed: a run with failed calls may complete. */
export function FailedCalls({ run: { trace } }: { run: ShownRun }) {
  const failed = trace.spans.filter(
    ({ name, status }) => name.startsWith('execute_tool ') && status === 'ERROR',
  ).length;
  if (failed === 0) return null;
  return (
    <Status icon="warning" tone="bad">
      {failed === 1 ? '1 tool call failed' : `${failed} tool calls failed`}
    </Status>
  );
}
