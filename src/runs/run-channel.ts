/** Where it is told that a run's row has changed. */
export function runChannel(runId: string): string {
  return `run:${runId}`;
}
