import type { Versions } from '../coordination/cache-versions.ts';
import { invalidInput, notFound } from '../errors/errors.ts';
import type { Account, KeyScope, Plan, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../text/ids.ts';
import { type AccountEnd, createAccountEnd } from './account-end.ts';
import { actorOf, recordChanges } from './audit.ts';
import type { Caller } from './caller.ts';
import { makeApiKey } from './key-format.ts';
import { lockAccount } from './key-lineage.ts';
import { accountVersionName } from './limits.ts';
import { type IssuedApiKey, newApiKey } from './new-key.ts';

/** A new account. `ENTERPRISE` requires the two limits; other plans must not have them. */
export type NewAccount = {
  name: string;
  plan: Plan;
  requestsPerMinute?: number | null;
  requestsPerDay?: number | null;
};

/** Changes to an account. Omitted fields stay as they are. */
export type AccountChanges = {
  name?: string | null;
  plan?: Plan | null;
  requestsPerMinute?: number | null;
  requestsPerDay?: number | null;
};

/** The scopes of an account's first key: all except `OPERATOR`. */
export const OWNER_SCOPES: KeyScope[] = ['CHAT', 'DEPLOY', 'RUNS', 'APPROVE', 'ADMIN'];

/** The accounts of all tenants. The caller of these functions must check that the request comes from an operator. */
export type Accounts = AccountEnd & {
  /** Creates an account with its first key. */
  create(caller: Caller, input: NewAccount): Promise<IssuedApiKey & { account: Account }>;
  /**
   * Updates an account. The new limits apply from its next request on, on every replica.
   *
   * @throws GatewayError `not_found`, or `invalid_request` if the limits do not match the plan.
   */
  update(caller: Caller, id: string, changes: AccountChanges): Promise<Account>;
};

export function createAccounts({
  prisma,
  versions,
}: {
  prisma: PrismaClient;
  versions: Versions;
}): Accounts {
  return {
    ...createAccountEnd({ prisma, versions }),

    async create(caller, { name, plan, requestsPerMinute, requestsPerDay }) {
      const id = makeId('acc');
      const secret = makeApiKey();
      const key = newApiKey(id, secret, { name: 'First key', scopes: OWNER_SCOPES });
      return prisma.$transaction(async (tx) => {
        const data = { id, name, plan, requestsPerMinute, requestsPerDay };
        const account = await tx.account.create({ data });
        const apiKey = await tx.apiKey.create({ data: key });
        const change = { action: 'CREATE_ACCOUNT', targetId: id, accountId: id } as const;
        await recordChanges(tx, actorOf(caller), change);
        return { account, apiKey, secret };
      });
    },

    async update(caller, id, { name, plan, ...numbers }) {
      const account = await prisma.$transaction(async (tx) => {
        // Serialize concurrent updates, because the plan and its limits depend on each other.
        await lockAccount(tx, id);
        const found = await tx.account.findUnique({ where: { id } });
        if (found === null) throw notFound('account', id);
        const data = {
          name: name ?? found.name,
          plan: plan ?? found.plan,
          ...limitsOf(plan ?? found.plan, numbers, found),
        };
        const change = { action: 'UPDATE_ACCOUNT', targetId: id, accountId: id } as const;
        await recordChanges(tx, actorOf(caller), change);
        return tx.account.update({ where: { id }, data });
      });
      await versions.renew(accountVersionName(id));
      return account;
    },
  };
}

/** The message for a limit that does not match the plan. */
export const LIMIT_RULE = 'is required for ENTERPRISE and not allowed for other plans';

type Numbers = Pick<AccountChanges, 'requestsPerMinute' | 'requestsPerDay'>;

/** The limits of an account after an update: the requested ones or the current ones; null for other plans. */
function limitsOf(plan: Plan, requested: Numbers, found: Account) {
  const isEnterprise = plan === 'ENTERPRISE';
  const names = ['requestsPerMinute', 'requestsPerDay'] as const;
  const problems = names.flatMap((name) => {
    const fits = isEnterprise ? (requested[name] ?? found[name]) != null : requested[name] == null;
    return fits ? [] : [{ path: `input.${name}`, message: LIMIT_RULE }];
  });
  if (problems.length > 0) throw invalidInput(problems);
  const numberOf = (name: (typeof names)[number]) =>
    isEnterprise ? (requested[name] ?? found[name]) : null;
  return {
    requestsPerMinute: numberOf('requestsPerMinute'),
    requestsPerDay: numberOf('requestsPerDay'),
  };
}
