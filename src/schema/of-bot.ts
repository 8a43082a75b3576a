import type { Caller } from '../accounts/caller.ts';
import { visibleBots } from '../bots/visible-bots.ts';
import type { KeyScope } from '../generated/prisma/client.ts';

/** The argument `botId` of a field: the bot that the object must belong to. Without it, the object of any bot is found. */
type BotArgument = { botId?: string | null | undefined };

/** The `authScopes` of a field with the argument `botId`. @param scope a scope, or a list of which one is enough. */
export function scopeOfBot<Scope extends KeyScope | readonly KeyScope[]>(scope: Scope) {
  return (_root: unknown, { botId }: BotArgument) =>
    botId ? { bot: { id: botId, scope } } : { scope };
}

/** Finds an object by its id, if the caller may use its bot. */
export function visibleById({ id, botId }: BotArgument & { id: string }, caller: Caller) {
  return { id, botId: botId ?? undefined, bot: visibleBots(caller) };
}
