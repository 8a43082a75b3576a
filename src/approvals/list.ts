import { type ApprovalStatus, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { PageQuery } from '../storage/keyset.ts';
import { type ListDefinition, NEWEST_FIRST, readLists } from '../storage/lists.ts';

/** The approvals of bots, newest first. */
export const APPROVALS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`approvals`,
  owner: Prisma.sql`bot_id`,
};

/** One page of each bot's approvals. */
export function findApprovals(
  prisma: PrismaClient,
  botIds: string[],
  { status }: { status?: ApprovalStatus | null | undefined },
  page: PageQuery,
) {
  const conditions = status ? [Prisma.sql`status = ${status}::"ApprovalStatus"`] : [];
  return readLists(prisma, APPROVALS, botIds, page, conditions);
}
