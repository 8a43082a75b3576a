import type { AuditAction, Prisma } from '../generated/prisma/client.ts';
import { makeId } from '../text/ids.ts';
import { type Caller, keyIdOf } from './caller.ts';

/** Days for which entries of the audit log are kept. */
export const AUDIT_DAYS = 400;

/** The author of a change: a key, or a user of a channel, who has none. */
export type Actor = { accountId: string; keyId: string | null };

/** One change, for the audit log. It has no field for values, so that no secret can enter the log. */
export type AuditedChange = {
  action: AuditAction;
  /** The id of the changed object. */
  targetId: string;
  /** The bot that the object is or belongs to. */
  botId?: string;
  /** The account that an operator changes. Default: the actor's own. */
  accountId?: string;
  /** The entry's id. A transaction that may run twice sets it, so that its change is recorded once. */
  id?: string;
};

export function actorOf(caller: Caller): Actor {
  return { accountId: caller.account.id, keyId: keyIdOf(caller) };
}

/**
 * Records changes in the audit log.
 *
 * An operator's change to another account is recorded in both logs. The entry in the other account's log does not name
 * the operator's key.
 *
 * @param tx the transaction that makes the changes.
 */
export async function recordChanges(
  tx: Prisma.TransactionClient,
  actor: Actor,
  ...changes: AuditedChange[]
): Promise<void> {
  const data = changes.flatMap(({ id = makeId('aud'), accountId = actor.accountId, ...change }) => [
    { id, ...change, ...actor },
    ...(accountId === actor.accountId ? [] : [{ id: makeId('aud'), ...change, accountId }]),
  ]);
  await tx.auditEntry.createMany({ data, skipDuplicates: true });
}
