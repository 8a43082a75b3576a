import { namesOf } from './names.ts';

/** The states of an evaluation. */
export const EVALUATION_STATUSES = {
  QUEUED: { description: 'Waiting: one evaluation of an account runs at a time.' },
  RUNNING: { description: 'Cases are executed.' },
  COMPLETED: { description: 'All cases have ended. `verdict` has the result.' },
  CANCELLED: { description: 'Cancelled. Finished cases are kept.' },
  FAILED: {
    description: 'It could not be executed, for the reason in `note`. Finished cases are kept.',
  },
} as const;

export const EVALUATION_STATUS_NAMES = namesOf(EVALUATION_STATUSES);

/** Whether an evaluation goes on. */
export function isActiveEvaluation({
  status,
}: {
  status: keyof typeof EVALUATION_STATUSES;
}): boolean {
  return status === 'QUEUED' || status === 'RUNNING';
}

/** The verdicts of a case. */
export const EVALUATION_VERDICTS = {
  PASSED: {
    description:
      'All expectations hold, in each attempt. Of a recorded run: the new reply is equal, the same in substance, or better.',
  },
  FAILED: {
    description:
      'An expectation does not hold, the conversation failed, or the new reply to a recorded message is worse.',
  },
  DIVERGED: { description: 'A call of a recorded run has no recorded result. It was not sent.' },
  SKIPPED: {
    description:
      'Something could not be checked, or what a recorded run needs is no longer stored. The reason is in `error`.',
  },
} as const;

export const EVALUATION_VERDICT_NAMES = namesOf(EVALUATION_VERDICTS);

/** How a new reply compares with a recorded one. */
export const REPLY_OUTCOMES = {
  EQUAL: { description: 'The replies are equal.' },
  BETTER: { description: 'The new reply is better, or only the recorded run failed.' },
  SAME: { description: 'The replies are the same in substance, or both runs failed.' },
  WORSE: { description: 'The new reply is worse, or only the new run failed.' },
} as const;

export const REPLY_OUTCOME_NAMES = namesOf(REPLY_OUTCOMES);

/** How the calls of a replay differ from the recorded ones. */
export const CALL_CHANGES = {
  ADDED: { description: 'Only the new run made the call.' },
  MISSING: { description: 'Only the recorded run made the call.' },
  CHANGED: { description: 'Both runs called the tool, with different arguments.' },
} as const;

export const CALL_CHANGE_NAMES = namesOf(CALL_CHANGES);
