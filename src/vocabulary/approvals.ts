import { namesOf } from './names.ts';

/** The states of an approval. All but WAITING are final. */
export const APPROVAL_STATUSES = {
  WAITING: { description: 'A person can decide.' },
  APPROVED: { description: 'A person approved the call. It is sent once.' },
  DENIED: { description: 'A person denied the call. It is not sent.' },
  EXPIRED: { description: 'Nobody decided in time. The call is not sent.' },
} as const;

export const APPROVAL_STATUS_NAMES = namesOf(APPROVAL_STATUSES);

/** The decisions of a person. */
export const DECISIONS = {
  APPROVE: { description: 'Send the call.' },
  DENY: { description: 'Do not send the call.' },
} as const;

export const DECISION_NAMES = namesOf(DECISIONS);
