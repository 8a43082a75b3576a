import { namesOf } from './names.ts';

/** The states of a run. COMPLETED, FAILED and CANCELLED are final. */
export const RUN_STATUSES = {
  QUEUED: { description: 'Waiting for a worker.' },
  RUNNING: { description: 'A worker is executing the run.' },
  COMPLETED: { description: 'The run finished successfully.' },
  FAILED: { description: 'The run finished with an error.' },
  CANCELLED: { description: 'The run was cancelled. It keeps the text generated so far.' },
} as const;

export const RUN_STATUS_NAMES = namesOf(RUN_STATUSES);
export type RunStatusName = (typeof RUN_STATUS_NAMES)[number];

/** The kinds of runs that lists have. */
export const LISTED_KINDS = {
  CHAT: { description: 'A turn of a conversation.' },
  EXECUTE: { description: 'A single prompt outside any conversation.' },
} as const;

export const LISTED_KIND_NAMES = namesOf(LISTED_KINDS);

/** All kinds of runs. */
export const RUN_KINDS = {
  ...LISTED_KINDS,
  DRAFT: { description: 'A chat with a definition that is not deployed.' },
} as const;

export const RUN_KIND_NAMES = namesOf(RUN_KINDS);
