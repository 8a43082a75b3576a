import { Prisma } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Look } from './looks.ts';

/** Finds processes that use the same database, although this one has no Redis to share limits with them. */
export type OtherProcesses = {
  /** One sentence while another process uses the database. */
  warning(): string | undefined;
  /** Searches. Its first answers do not count, so that no ended process is found. */
  look: Look;
};

const WARNING =
  'Another process uses this database, but REDIS_URL is not set: both count limits apart, and live events do not reach clients of the other one.';
const LIVE_FOR_MS = 5_000;

/** SQL that selects the owners whose process is live: it stores a heartbeat every 2 seconds. */
export const IS_LIVE = `heartbeat_at > now() - interval '${LIVE_FOR_MS} milliseconds'`;

export function createOtherProcesses(log: Log): OtherProcesses {
  const startedAt = performance.now();
  let hasOthers = false;
  return {
    warning: () => (hasOthers ? WARNING : undefined),
    look: {
      what: 'Search for other processes',
      condition: Prisma.sql`EXISTS (SELECT 1 FROM owners WHERE id <> requested.id AND ${Prisma.raw(IS_LIVE)})`,
      onAnswer(isTrue) {
        if (performance.now() - startedAt < LIVE_FOR_MS) return;
        if (isTrue && !hasOthers) log.warn({}, WARNING);
        hasOthers = isTrue;
      },
    },
  };
}
