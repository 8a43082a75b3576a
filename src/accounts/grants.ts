import { GatewayError, invalidInput, notFound } from '../errors/errors.ts';
import type { ApiKey, KeyScope, Prisma } from '../generated/prisma/client.ts';
import { authorizeScope, type Caller, grantableScopes, mayUseBot } from './caller.ts';

/** Rights that a caller gives to a key. Omitted ones stay as they are. */
export type Grant = {
  scopes?: KeyScope[] | undefined;
  /** `null`: every bot of the account. */
  botIds?: string[] | null | undefined;
  /** `null`: never. */
  expiresAt?: Date | null | undefined;
};

/**
 * Ensures that a caller gives no right that its own key may not grant, and no bot that is not the account's.
 *
 * @throws GatewayError `insufficient_scope`, `bot_access_denied`, `bot_not_found`, or `invalid_request` for an expiry
 *   later than the caller's own.
 */
export async function assertGrantable(
  tx: Prisma.TransactionClient,
  caller: Caller,
  { scopes = [], botIds, expiresAt }: Grant,
): Promise<void> {
  const { key } = caller;
  const grantable = grantableScopes(key);
  for (const scope of scopes) if (!grantable.includes(scope)) authorizeScope(caller, scope);
  if (botIds === null && key.restricted) {
    const message = 'This API key is restricted to some bots and cannot give access to all.';
    throw new GatewayError('bot_access_denied', message);
  }
  const closed = botIds?.find((id) => !mayUseBot(caller, id));
  if (closed !== undefined) throw noAccess(closed);
  if (expiresAt !== undefined && outlives(expiresAt, key)) {
    const message = 'must not be later than the expiry of the key that issues it';
    throw invalidInput([{ path: 'input.expiresAt', message }]);
  }
  await assertBots(tx, caller, botIds ?? []);
}

/** Whether a key with this expiry would outlive another key. */
export function outlives(expiresAt: Date | null, key: Pick<ApiKey, 'expiresAt'>): boolean {
  return key.expiresAt !== null && (expiresAt === null || expiresAt > key.expiresAt);
}

/** Rejects bots that do not exist or belong to another account. */
async function assertBots(
  tx: Prisma.TransactionClient,
  { account }: Caller,
  botIds: string[],
): Promise<void> {
  const bots = await tx.bot.findMany({
    where: { id: { in: botIds } },
    select: { id: true, accountId: true },
  });
  for (const id of botIds) {
    const bot = bots.find((candidate) => candidate.id === id);
    if (!bot) throw notFound('bot', id);
    if (bot.accountId !== account.id) throw noAccess(id);
  }
}

function noAccess(botId: string): GatewayError {
  return new GatewayError('bot_access_denied', `This API key has no access to the bot "${botId}".`);
}
