import type { Account, KeyScope, Plan, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import { makeApiKey } from './key-format.ts';
import { type IssuedApiKey, newApiKey } from './keys.ts';

/** A new tenant. The two numbers go with `ENTERPRISE`, which needs them, and with no other plan. */
export type NewAccount = {
  name: string;
  plan: Plan;
  requestsPerMinute?: number | null;
  requestsPerDay?: number | null;
};

/** The scopes of an account's first key: all but `OPERATOR`. */
export const OWNER_SCOPES: KeyScope[] = ['CHAT', 'DEPLOY', 'RUNS', 'ADMIN'];

/** The tenants. */
export type Accounts = {
  /** Makes an account and its first key. The caller has been found to be an operator. */
  create(input: NewAccount): Promise<IssuedApiKey & { account: Account }>;
};

export function createAccounts({ prisma }: { prisma: PrismaClient }): Accounts {
  return {
    async create({ name, plan, requestsPerMinute, requestsPerDay }) {
      const id = makeId('acc');
      const secret = makeApiKey();
      const key = newApiKey(id, secret, { name: 'First key', scopes: OWNER_SCOPES });
      const [account, apiKey] = await prisma.$transaction([
        prisma.account.create({ data: { id, name, plan, requestsPerMinute, requestsPerDay } }),
        prisma.apiKey.create({ data: key }),
      ]);
      return { account, apiKey, secret };
    },
  };
}
