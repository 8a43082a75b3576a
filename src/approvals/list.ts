import {
  type ApprovalStatus,
  type Environment,
  Prisma,
  type PrismaClient,
} from '../generated/prisma/client.ts';
import type { PageQuery } from '../storage/keyset.ts';
import { hasValue, type ListDefinition, NEWEST_FIRST, readLists } from '../storage/lists.ts';

/** Selects approvals that match all given conditions. */
export type ApprovalFilter = {
  environment?: Environment | null | undefined;
  status?: ApprovalStatus | null | undefined;
};

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
  { environment, status }: ApprovalFilter,
  page: PageQuery,
) {
  return readLists(prisma, APPROVALS, botIds, page, [
    ...hasValue('environment', 'Environment', environment),
    ...hasValue('status', 'ApprovalStatus', status),
  ]);
}
