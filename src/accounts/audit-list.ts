import { type AuditAction, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { ListEntry, PageQuery } from '../storage/keyset.ts';
import { type ListDefinition, NEWEST_FIRST, readLists } from '../storage/lists.ts';
import type { Caller } from './caller.ts';

/** Conditions on entries. An entry must match all of them. */
export type AuditFilter = {
  action?: readonly AuditAction[] | null;
  keyId?: string | null;
  botId?: string | null;
  /** Inclusive. */
  from?: Date | null;
  /** Exclusive. */
  to?: Date | null;
};

/** The audit log of each account, newest first. */
export const AUDIT_LOG: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`audit_entries`,
  owner: Prisma.sql`account_id`,
};

/**
 * Finds a page of each account's audit log. A key that is restricted to some bots sees only the entries of these bots.
 * The caller of this function must check that the key may read the logs of these accounts.
 */
export function findAuditEntries(
  prisma: PrismaClient,
  { key }: Caller,
  accountIds: string[],
  page: PageQuery,
  { action, keyId, botId, from, to }: AuditFilter,
): Promise<ListEntry[]> {
  const conditions = [
    ...(action ? [Prisma.sql`action::text = ANY(${[...action]})`] : []),
    ...(keyId == null ? [] : [Prisma.sql`key_id = ${keyId}`]),
    ...(botId == null ? [] : [Prisma.sql`bot_id = ${botId}`]),
    ...(key.restricted ? [Prisma.sql`bot_id = ANY(${key.botIds})`] : []),
  ];
  // The empty id sorts before every id.
  const bounds: PageQuery['bounds'] = [
    ...page.bounds,
    ...(from ? [{ place: [from.getTime(), ''], direction: 'asc' } as const] : []),
    ...(to ? [{ place: [to.getTime(), ''], direction: 'desc' } as const] : []),
  ];
  return readLists(prisma, AUDIT_LOG, accountIds, { ...page, bounds }, conditions);
}
