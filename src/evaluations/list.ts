import { type Environment, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { PageQuery } from '../storage/keyset.ts';
import { hasValue, type ListDefinition, NEWEST_FIRST, readLists } from '../storage/lists.ts';

/** Selects evaluations. */
export type EvaluationFilter = { environment?: Environment | null | undefined };

/** The evaluations of bots, newest first. */
export const EVALUATIONS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`evaluations`,
  owner: Prisma.sql`bot_id`,
};

/** One page of each bot's evaluations. */
export function findEvaluations(
  prisma: PrismaClient,
  botIds: string[],
  { environment }: EvaluationFilter,
  page: PageQuery,
) {
  const conditions = hasValue('environment', 'Environment', environment);
  return readLists(prisma, EVALUATIONS, botIds, page, conditions);
}
