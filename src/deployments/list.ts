import {
  type DeploymentStatus,
  type Environment,
  Prisma,
  type PrismaClient,
} from '../generated/prisma/client.ts';
import type { PageQuery } from '../storage/keyset.ts';
import { hasValue, type ListDefinition, NEWEST_FIRST, readLists } from '../storage/lists.ts';

/** Selects deployments that match all given conditions. */
export type DeploymentFilter = {
  environment?: Environment | null | undefined;
  status?: DeploymentStatus | null | undefined;
};

/** The deployments of bots, newest first. */
export const DEPLOYMENTS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`deployments`,
  owner: Prisma.sql`bot_id`,
};

/** One page of each bot's deployments. */
export function findDeployments(
  prisma: PrismaClient,
  botIds: string[],
  { environment, status }: DeploymentFilter,
  page: PageQuery,
) {
  return readLists(prisma, DEPLOYMENTS, botIds, page, [
    ...hasValue('environment', 'Environment', environment),
    ...hasValue('status', 'DeploymentStatus', status),
  ]);
}
