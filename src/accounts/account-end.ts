import type { Versions } from '../coordination/cache-versions.ts';
import { GatewayError, notFound } from '../errors/errors.ts';
import { type Account, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { deleteBatch } from '../storage/delete-batch.ts';
import { databaseTime } from '../storage/moment.ts';
import { actorOf, recordChanges } from './audit.ts';
import type { Caller } from './caller.ts';
import { readOwnKey } from './key-changes.ts';
import { lockAccount } from './key-lineage.ts';
import { accountVersionName } from './limits.ts';

/**
 * The suspension and the deletion of accounts. The caller of these functions must check that the request comes from an
 * operator. All of them throw GatewayError `not_found`.
 */
export type AccountEnd = {
  /**
   * Suspends an account: from its next request on, no replica accepts its keys and tokens, and its streams end within a
   * second. Does nothing to a suspended account.
   *
   * @throws GatewayError `invalid_request` for the caller's own account.
   */
  suspend(caller: Caller, id: string): Promise<Account>;
  /** Lifts a suspension. Keys work again within a second. @throws GatewayError `invalid_request` if the account is being deleted. */
  resume(caller: Caller, id: string): Promise<Account>;
  /** Suspends an account for good. Its bots can then be deleted. @throws GatewayError as `suspend`. */
  beginDeletion(caller: Caller, id: string): Promise<void>;
  /** Deletes an account without bots whose deletion has begun. A repeat continues after a failure. */
  finishDeletion(caller: Caller, id: string): Promise<void>;
};

export function createAccountEnd({
  prisma,
  versions,
}: {
  prisma: PrismaClient;
  versions: Versions;
}): AccountEnd {
  /** Locks the caller's account and another one, in one order: operators who suspend each other must not deadlock. */
  const change = <Result>(
    caller: Caller,
    id: string,
    work: (tx: Prisma.TransactionClient, account: Account) => Promise<Result>,
  ) =>
    prisma.$transaction(async (tx) => {
      for (const one of [caller.account.id, id].toSorted()) await lockAccount(tx, one);
      await readOwnKey(tx, caller, Date.now());
      const account = await tx.account.findUnique({ where: { id } });
      if (account === null) throw notFound('account', id);
      return work(tx, account);
    });

  const suspendIn = async (
    tx: Prisma.TransactionClient,
    caller: Caller,
    { id, suspendedAt, deletedAt }: Account,
    isDeletion = false,
  ) => {
    if (id === caller.account.id) throw ownAccount();
    if (!suspendedAt) {
      const change = { action: 'SUSPEND_ACCOUNT', targetId: id, accountId: id } as const;
      await recordChanges(tx, actorOf(caller), change);
    }
    const now = new Date(await databaseTime(tx));
    const data = {
      suspendedAt: suspendedAt ?? now,
      deletedAt: deletedAt ?? (isDeletion ? now : null),
    };
    return tx.account.update({ where: { id }, data });
  };

  return {
    async suspend(caller, id) {
      const suspended = await change(caller, id, (tx, account) => suspendIn(tx, caller, account));
      await versions.renew(accountVersionName(id));
      return suspended;
    },

    async resume(caller, id) {
      const resumed = await change(caller, id, async (tx, account) => {
        if (account.deletedAt) throw beingDeleted(id);
        if (!account.suspendedAt) return account;
        const change = { action: 'RESUME_ACCOUNT', targetId: id, accountId: id } as const;
        await recordChanges(tx, actorOf(caller), change);
        return tx.account.update({ where: { id }, data: { suspendedAt: null } });
      });
      await versions.renew(accountVersionName(id));
      return resumed;
    },

    async beginDeletion(caller, id) {
      await change(caller, id, (tx, account) => suspendIn(tx, caller, account, true));
      await versions.renew(accountVersionName(id));
    },

    async finishDeletion(caller, id) {
      const ofAccount = Prisma.sql`account_id = ${id}`;
      const key = Prisma.sql`account_id, namespace, key`;
      while (await deleteBatch(prisma, Prisma.sql`idempotency_records`, ofAccount, key));
      while (await deleteBatch(prisma, Prisma.sql`audit_entries`, ofAccount));
      await prisma.$transaction(async (tx) => {
        const where = { id, deletedAt: { not: null } };
        const { count } = await tx.account.deleteMany({ where });
        if (count === 0) return;
        await recordChanges(tx, actorOf(caller), { action: 'DELETE_ACCOUNT', targetId: id });
      });
      await versions.renew(accountVersionName(id));
    },
  };
}

function ownAccount(): GatewayError {
  const message = 'An operator cannot suspend or delete its own account.';
  return new GatewayError('invalid_request', message);
}

function beingDeleted(id: string): GatewayError {
  const message = `The account "${id}" is being deleted. Repeat deleteAccount to finish.`;
  return new GatewayError('invalid_request', message);
}
