import type { Plan } from '../generated/prisma/client.ts';

/** How many runs an account may have at once. */
export type RunLimits = {
  /** Active foreground runs in one process, those that wait for their session's turn included. */
  active: number;
  /** Active background runs over all processes. */
  background: number;
  /** Background runs that wait for their first attempt. */
  queued: number;
};

export const RUN_LIMITS: Record<Plan, RunLimits> = {
  FREE: { active: 10, background: 1, queued: 100 },
  PRO: { active: 50, background: 4, queued: 1_000 },
  BUSINESS: { active: 200, background: 8, queued: 10_000 },
  ENTERPRISE: { active: 1_000, background: 16, queued: 100_000 },
};
