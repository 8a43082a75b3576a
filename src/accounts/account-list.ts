import { Prisma } from '../generated/prisma/client.ts';
import { type ListDefinition, NEWEST_FIRST } from '../storage/lists.ts';

/** The owner of the one list of accounts: no other object owns accounts. */
export const EVERY_ACCOUNT = 'every account';

/** All accounts, newest first. */
export const ACCOUNTS: ListDefinition = {
  ...NEWEST_FIRST,
  table: Prisma.sql`accounts`,
  owner: Prisma.sql`${EVERY_ACCOUNT}`,
};
