import { Environment, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { ListEntry, PageQuery } from '../storage/keyset.ts';
import {
  firstRows,
  type ListDefinition,
  NEWEST_FIRST,
  orderBy,
  readLists,
} from '../storage/lists.ts';

/** Sessions per bot, the last used one first. */
export const SESSIONS: ListDefinition = {
  ...NEWEST_FIRST,
  columns: [Prisma.sql`last_seen_at`, Prisma.sql`id`],
  number: Prisma.sql`(extract(epoch FROM last_seen_at) * 1000)::float8`,
  table: Prisma.sql`sessions`,
  owner: Prisma.sql`bot_id`,
};

/** As the predicate of the list's index. */
const NO_DRAFT = Prisma.sql`session_id <> 'draft_' || id`;

/**
 * Reads one page per bot, without sessions of drafts. Each environment is one index range, and a page merges their first
 * rows.
 *
 * @param environment absent: of all environments.
 */
export function findSessions(
  prisma: PrismaClient,
  botIds: string[],
  environment: Environment | null | undefined,
  page: PageQuery,
): Promise<ListEntry[]> {
  const environments = environment ? [environment] : Object.values(Environment);
  const ofEnvironment = firstRows(SESSIONS, page, [
    Prisma.sql`sessions.environment = branch.environment`,
    NO_DRAFT,
  ]);
  const rows = Prisma.sql`
    SELECT session.* FROM unnest(${environments}::text[]::"Environment"[]) AS branch(environment)
      CROSS JOIN LATERAL (${ofEnvironment}) AS session
    ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`;
  return readLists(prisma, SESSIONS, botIds, page, [], rows);
}
