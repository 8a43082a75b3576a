import type { Versions } from '../coordination/cache-versions.ts';
import { GatewayError } from '../errors.ts';
import type { Account, KeyScope, Plan, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import { makeApiKey } from './key-format.ts';
import { type IssuedApiKey, newApiKey } from './keys.ts';
import { accountVersionName } from './limits.ts';

/** A new tenant. The two numbers go with `ENTERPRISE`, which needs them, and with no other plan. */
export type NewAccount = {
  name: string;
  plan: Plan;
  requestsPerMinute?: number | null;
  requestsPerDay?: number | null;
};

/** What changes of an account; what is left out stays. */
export type AccountChanges = {
  name?: string | null;
  plan?: Plan | null;
  requestsPerMinute?: number | null;
  requestsPerDay?: number | null;
};

/** The scopes of an account's first key: all but `OPERATOR`. */
export const OWNER_SCOPES: KeyScope[] = ['CHAT', 'DEPLOY', 'RUNS', 'ADMIN'];

/** The tenants. */
export type Accounts = {
  /** Makes an account and its first key. The caller has been found to be an operator. */
  create(input: NewAccount): Promise<IssuedApiKey & { account: Account }>;
  /**
   * Changes an account; its very next request, on any replica, goes by the new limits. The caller has been found to be an
   * operator.
   *
   * @throws GatewayError `not_found`, or `invalid_request` for limits that do not go with the plan.
   */
  update(id: string, changes: AccountChanges): Promise<Account>;
};

export function createAccounts({
  prisma,
  versions,
}: {
  prisma: PrismaClient;
  versions: Versions;
}): Accounts {
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

    async update(id, { name, plan, ...numbers }) {
      const account = await prisma.$transaction(async (transaction) => {
        // Two changes at once are made one after the other: the plan and its numbers belong together.
        await transaction.$executeRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR UPDATE`;
        const found = await transaction.account.findUnique({ where: { id } });
        if (found === null) throw new GatewayError('not_found', `There is no account "${id}".`);
        const data = {
          name: name ?? found.name,
          plan: plan ?? found.plan,
          ...limitsOf(plan ?? found.plan, numbers, found),
        };
        return transaction.account.update({ where: { id }, data });
      });
      await versions.renew(accountVersionName(id));
      return account;
    },
  };
}

/** What is wrong with numbers that do not go with a plan. */
export const LIMIT_RULE = 'is required with ENTERPRISE and goes with no other plan';

type Numbers = Pick<AccountChanges, 'requestsPerMinute' | 'requestsPerDay'>;

/** The numbers of an account after a change: as asked, or as they were; none but with `ENTERPRISE`. */
function limitsOf(plan: Plan, asked: Numbers, found: Account) {
  const isEnterprise = plan === 'ENTERPRISE';
  const names = ['requestsPerMinute', 'requestsPerDay'] as const;
  const details = names.flatMap((name) => {
    const fits = isEnterprise ? (asked[name] ?? found[name]) != null : asked[name] == null;
    return fits ? [] : [{ path: `input.${name}`, message: LIMIT_RULE }];
  });
  if (details.length > 0) {
    const summary = details.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new GatewayError('invalid_request', summary, { details });
  }
  const numberOf = (name: (typeof names)[number]) =>
    isEnterprise ? (asked[name] ?? found[name]) : null;
  return {
    requestsPerMinute: numberOf('requestsPerMinute'),
    requestsPerDay: numberOf('requestsPerDay'),
  };
}
