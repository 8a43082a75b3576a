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

/** Whether the key's limitation to some bots, if it has one, includes this bot. */
export function mayUseBot({ key }: Caller, botId: string): boolean {
  return !key.restricted || key.botIds.includes(botId);
}
