import { Prisma } from '../generated/prisma/client.ts';
import { type ListDefinition, NEWEST_FIRST } from '../storage/lists.ts';

/** The evaluations of bots, newest first. */
export const EVALUATIONS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`evaluations`,
  owner: Prisma.sql`bot_id`,
};
