import { namesOf } from './names.ts';

/** The scopes of API keys, with what each allows. */
export const SCOPES = {
  CHAT: {
    description:
      'Send messages and prompts; follow, cancel and rate runs; change memory; delete conversations; create session tokens.',
  },
  DEPLOY: { description: 'Deploy definitions and read their source.' },
  RUNS: {
    description:
      'Read runs, traces, conversations, memory and statistics; follow, cancel and rate runs.',
  },
  ADMIN: {
    description: 'Manage the bots and API keys of the account, and read its audit log.',
  },
  APPROVE: {
    description: 'Read tool calls that wait for approval, and approve or deny them.',
  },
  OPERATOR: { description: 'Create, change, suspend and delete accounts.' },
} as const;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = namesOf(SCOPES);
