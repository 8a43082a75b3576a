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

/** What began a run. */
export const RUN_TRIGGERS = {
  REQUEST: { description: 'A message or prompt of a client.' },
  APPROVAL: { description: 'The outcome of a tool call that a person had to approve.' },
} as const;

export const RUN_TRIGGER_NAMES = namesOf(RUN_TRIGGERS);

/** The states of a tool call. */
export const TOOL_CALL_STATUSES = {
  RUNNING: { description: 'The call is in progress.' },
  COMPLETED: { description: 'The tool returned a result.' },
  FAILED: { description: 'The call failed; `result` has the reason.' },
  UNKNOWN: {
    description:
      'The request was sent, and its outcome is not known: the server stopped, or no response arrived. It is not sent again.',
  },
  WAITING: { description: 'The call waits for the approval of a person.' },
  DENIED: { description: 'A person denied the call. It was not sent.' },
  EXPIRED: { description: 'Nobody decided in time. The call was not sent.' },
  REFUSED: { description: 'The call exceeds a limit of calls. It was not sent.' },
} as const;

export const TOOL_CALL_STATUS_NAMES = namesOf(TOOL_CALL_STATUSES);

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
