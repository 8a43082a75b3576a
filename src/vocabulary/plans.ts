/** Requests of an account. */
export type RequestLimits = { perMinute: number; perDay: number };

/** What an account may use, by its plan. */
export type PlanLimits = {
  /** Absent if each account has its own. */
  requests?: RequestLimits;
  /** Active foreground runs in one process, including runs that wait for their session's turn. */
  activeRuns: number;
  /** Active background runs in all processes together. */
  backgroundRuns: number;
  /** Background runs that wait for their first attempt. */
  queuedRuns: number;
  /** Open subscriptions and streams in one process. */
  streams: number;
  /** Points of work that the events of its subscriptions may take in one process in a second. */
  eventPoints: number;
};

/** The plans, smallest first. */
export const PLANS = {
  FREE: {
    requests: { perMinute: 10, perDay: 1_000 },
    activeRuns: 10,
    backgroundRuns: 1,
    queuedRuns: 100,
    streams: 100,
    eventPoints: 100,
  },
  PRO: {
    requests: { perMinute: 60, perDay: 20_000 },
    activeRuns: 50,
    backgroundRuns: 4,
    queuedRuns: 1_000,
    streams: 400,
    eventPoints: 400,
  },
  BUSINESS: {
    requests: { perMinute: 300, perDay: 200_000 },
    activeRuns: 200,
    backgroundRuns: 8,
    queuedRuns: 10_000,
    streams: 1_000,
    eventPoints: 1_000,
  },
  ENTERPRISE: {
    activeRuns: 1_000,
    backgroundRuns: 16,
    queuedRuns: 100_000,
    streams: 5_000,
    eventPoints: 5_000,
  },
} as const satisfies Record<string, PlanLimits>;

export type Plan = keyof typeof PLANS;
