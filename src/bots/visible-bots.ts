import type { Caller } from '../accounts/caller.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type ListDefinition, NEWEST_FIRST } from '../storage/lists.ts';

/** A Prisma condition that restricts a query to the bots that a caller may see. */
export function visibleBots({ account, key }: Caller): Prisma.BotWhereInput {
  return { accountId: account.id, ...(key.restricted && { id: { in: key.botIds } }) };
}

/** The list of each account's bots, newest first. */
export const BOTS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`bots`,
  owner: Prisma.sql`account_id`,
};

/**
 * SQL conditions that restrict a list to the bots that a caller may see.
 *
 * @param filter letters, of either case, that the name or the id of a bot must contain, and the ids of the bots.
 */
export function visibleInList(
  { account, key }: Caller,
  { search, ids }: { search?: string | null | undefined; ids?: string[] | null | undefined } = {},
): Prisma.Sql[] {
  const contains = (column: Prisma.Sql) =>
    Prisma.sql`strpos(lower(${column}), lower(${search})) > 0`;
  return [
    Prisma.sql`account_id = ${account.id}`,
    ...(key.restricted ? [Prisma.sql`id = ANY(${key.botIds})`] : []),
    ...(ids ? [Prisma.sql`id = ANY(${ids})`] : []),
    ...(search ? [Prisma.sql`(${contains(Prisma.sql`name`)} OR ${contains(Prisma.sql`id`)})`] : []),
  ];
}
