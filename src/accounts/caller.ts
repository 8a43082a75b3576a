import { GatewayError } from '../errors.ts';
import type { Account, ApiKey, KeyScope } from '../generated/prisma/client.ts';

/** Who asks: an account, by one of its keys. */
export type Caller = { account: Account; key: ApiKey };

/**
 * Refuses a caller whose key lacks a scope.
 *
 * @throws GatewayError `insufficient_scope`
 */
export function authorizeScope({ key }: Caller, scope: KeyScope): void {
  if (key.scopes.includes(scope)) return;
  throw new GatewayError(
    'insufficient_scope',
    `This API key lacks the scope "${scope.toLowerCase()}".`,
  );
}

/** Whether a key can do nothing that the caller's own cannot. */
export function covers(
  { key }: Caller,
  other: Pick<ApiKey, 'scopes' | 'restricted' | 'botIds'>,
): boolean {
  return (
    other.scopes.every((scope) => key.scopes.includes(scope)) &&
    (!key.restricted || (other.restricted && other.botIds.every((id) => key.botIds.includes(id))))
  );
}

/** Whether the key's limitation to some bots, if it has one, includes this bot. */
export function mayUseBot({ key }: Caller, botId: string): boolean {
  return !key.restricted || key.botIds.includes(botId);
}
