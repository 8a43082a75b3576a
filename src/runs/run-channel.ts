/** Where it is told that a run's row has changed. */
export function runChannel(runId: string): string {
  return `run:${runId}`;
}

/** Where those who read a run elsewhere than it is at work say so, by its id, as often as they look at its row. */
export const READ_CHANNEL = 'runs:read';
