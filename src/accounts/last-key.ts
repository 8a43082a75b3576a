import { GatewayError } from '../errors/errors.ts';
import type { KeyScope, Prisma } from '../generated/prisma/client.ts';

/** Scopes that an account cannot give to a key again once no key has them. */
const KEPT_SCOPES = ['ADMIN', 'OPERATOR'] as const satisfies KeyScope[];

/** Keys that expire sooner do not count: a rotated key lives this long at most. */
const LASTING_MS = 24 * 60 * 60 * 1_000;

/**
 * Makes a change to an account's keys, unless it would take a scope that manages keys or accounts from the last key
 * that has it, because no key could restore it. Only unrestricted keys that are valid for another day count.
 *
 * @param tx a transaction that holds the account's lock.
 * @throws GatewayError `invalid_request`
 */
export async function keepingLastKey<Result>(
  tx: Prisma.TransactionClient,
  accountId: string,
  now: number,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await lastingScopes(tx, accountId, now);
  const result = await change();
  const after = await lastingScopes(tx, accountId, now);
  const lost = KEPT_SCOPES.find((scope) => before.has(scope) && !after.has(scope));
  if (lost === undefined) return result;
  const message = `This is the account's last unrestricted API key with the scope "${lost.toLowerCase()}" that is valid for another day. Create another one first.`;
  throw new GatewayError('invalid_request', message);
}

async function lastingScopes(
  tx: Prisma.TransactionClient,
  accountId: string,
  now: number,
): Promise<Set<KeyScope>> {
  const keys = await tx.apiKey.findMany({
    where: {
      accountId,
      restricted: false,
      revokedAt: null,
      OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now + LASTING_MS) } }],
    },
    select: { scopes: true },
  });
  return new Set(keys.flatMap(({ scopes }) => scopes));
}
