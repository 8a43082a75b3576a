import type { KeyScope, Plan } from '../../generated/operations/console.ts';
import { valuesOf } from '../../vocabulary/names.ts';
import { PLANS as LIMITS, type PlanLimits } from '../../vocabulary/plans.ts';
import { SCOPES as ALLOWED } from '../../vocabulary/scopes.ts';
import { count } from '../numbers.ts';

/** The plans, smallest first, with what each allows. */
export const PLANS: { plan: Plan; name: string; allows: string }[] = valuesOf(LIMITS).map(
  (plan) => ({ plan, name: planName(plan), allows: requestsOf(LIMITS[plan]) }),
);

export function planName(plan: Plan): string {
  return plan.charAt(0) + plan.slice(1).toLowerCase();
}

function requestsOf({ requests }: PlanLimits): string {
  if (!requests) return 'limits of its own';
  return `${count(requests.perMinute)} requests a minute, ${count(requests.perDay)} a day`;
}

/** The scopes of keys, with what each allows. */
export const SCOPES: { scope: KeyScope; allows: string }[] = valuesOf(ALLOWED).map((scope) => ({
  scope,
  allows: ALLOWED[scope].description.replace(/\.$/, ''),
}));

/** What each scope allows, as the end of a sentence. */
const MAY: Record<KeyScope, string> = {
  CHAT: 'chat with its bots',
  DEPLOY: 'deploy definitions',
  RUNS: 'read runs and conversations',
  ADMIN: 'manage bots and keys',
  APPROVE: 'decide on tool calls',
  OPERATOR: 'manage accounts',
};

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** What a key with these scopes may do, as a sentence. */
export function scopeSentence(scopes: readonly KeyScope[]): string {
  if (scopes.length === 0) return 'May do nothing.';
  const allowed = SCOPES.filter(({ scope }) => scopes.includes(scope));
  return `May ${list.format(allowed.map(({ scope }) => MAY[scope]))}.`;
}

export function scopeName(scope: KeyScope): string {
  return scope.toLowerCase();
}
