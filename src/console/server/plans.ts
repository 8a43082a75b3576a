import type { KeyScope, Plan } from '../../generated/operations/console.ts';

/** The plans, smallest first, with what each allows. */
export const PLANS: { plan: Plan; name: string; allows: string }[] = [
  { plan: 'FREE', name: 'Free', allows: '10 requests a minute, 1,000 a day' },
  { plan: 'PRO', name: 'Pro', allows: '60 requests a minute, 20,000 a day' },
  { plan: 'BUSINESS', name: 'Business', allows: '300 requests a minute, 200,000 a day' },
  { plan: 'ENTERPRISE', name: 'Enterprise', allows: 'limits of its own' },
];

export function planName(plan: Plan): string {
  return PLANS.find((one) => one.plan === plan)?.name ?? plan;
}

/** The scopes of keys, with what each allows. */
export const SCOPES: { scope: KeyScope; allows: string }[] = [
  {
    scope: 'CHAT',
    allows:
      'Send messages and prompts; follow, cancel and rate runs; change memory; delete conversations; create session tokens',
  },
  { scope: 'DEPLOY', allows: 'Deploy definitions and read their source' },
  {
    scope: 'RUNS',
    allows: 'Read runs, traces, conversations, memory and statistics; follow, cancel and rate runs',
  },
  { scope: 'ADMIN', allows: 'Manage bots and keys, read the audit log' },
  { scope: 'OPERATOR', allows: 'Manage all accounts of this server' },
];

export function scopeName(scope: KeyScope): string {
  return scope.toLowerCase();
}
