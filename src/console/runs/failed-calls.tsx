import { quantity } from '../numbers.ts';
import { Status } from '../parts/status.tsx';

/** How many tool calls of a run failed: a run with failed calls may complete. */
export function FailedCalls({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Status icon="warning" tone="bad">
      {quantity(count, 'tool call')} failed
    </Status>
  );
}
