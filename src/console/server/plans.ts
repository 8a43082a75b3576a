import type { KeyScope, Plan } from '../../generated/operations/console.ts';
import { valuesOf } from '../../vocabulary/names.ts';
import { PLANS as LIMITS, type PlanLimits } from '../../vocabulary/plans.ts';
import { SCOPES as ALLOWED } from '../../vocabulary/scopes.ts';

/** The plans, smallest first, with what each allows. */
export const PLANS: { plan: Plan; name: string; allows: string }[] = valuesOf(LIMITS).map(
  (plan) => ({ plan, name: planName(plan), allows: requestsOf(LIMITS[plan]) }),
);

export function planName(plan: Plan): string {
  return plan.charAt(0) + plan.slice(1).toLowerCase();
}

function requestsOf({ requests }: PlanLimits): string {
  if (!requests) return 'limits of its own';
  const count = (number: number) => number.toLocaleString('en');
  return `${count(requests.perMinute)} requests a minute, ${count(requests.perDay)} a day`;
}

/** The scopes of keys, with what each allows. */
export const SCOPES: { scope: KeyScope; allows: string }[] = valuesOf(ALLOWED).map((scope) => ({
  scope,
  allows: ALLOWED[scope].description.replace(/\.$/, ''),
}));

export function scopeName(scope: KeyScope): string {
  return scope.toLowerCase();
}
