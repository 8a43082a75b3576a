/** The channel that notifies of changes to a run's row. */
export function runChannel(runId: string): string {
  return `run:${runId}`;
}

/** The channel on which a reader on another replica announces itself with the run's id, at each poll. */
export const READ_CHANNEL = 'runs:read';
