import type { Accounts } from '../accounts/accounts.ts';
import { authorizeScope, type Caller } from '../accounts/caller.ts';
import type { Keys } from '../accounts/keys.ts';
import type { Chat } from '../agent/chat.ts';
import type { Bots } from '../bots/bots.ts';
import type { Deployments } from '../deployments/deployments.ts';
import { GatewayError } from '../errors.ts';
import type { KeyScope, PrismaClient } from '../generated/prisma/client.ts';
import type { Sessions } from '../sessions/sessions.ts';

/** The parts of the domain that the schema's resolvers call. */
export type Domains = {
  prisma: PrismaClient;
  accounts: Accounts;
  keys: Keys;
  bots: Bots;
  deployments: Deployments;
  sessions: Sessions;
  chat: Chat;
};

/** Where an operation comes from, told by its transport. */
export type Origin = {
  /** Who asks, or why nobody is let in. */
  authentication: Caller | GatewayError;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  /** Sends a header with the answer, where the transport still can. */
  setHeader(name: string, value: string): void;
};

/** What every resolver gets; made anew for each operation, the same way on every transport. */
export type Context = Domains &
  Pick<Origin, 'signal' | 'setHeader'> & {
    /** @throws GatewayError `missing_api_key` or `invalid_api_key`: without a good key nobody reaches data. */
    caller(): Caller;
    /**
     * Lets the caller at a bot: asked by the REST layer before it reads a body, and by the schema's scopes.
     *
     * @param scope what the key must be able to do; none: see the bot.
     * @throws GatewayError as `Bots.authorize`, then `insufficient_scope`.
     */
    authorizeBot(botId: string, scope?: KeyScope): Promise<void>;
  };

/** @returns a function that makes the context of one operation. */
export function createContextFactory(domains: Domains): (origin: Origin) => Context {
  return ({ authentication, signal, setHeader }) => {
    const caller = () => {
      if (authentication instanceof GatewayError) throw authentication;
      return authentication;
    };
    const authorized = new Map<string, Promise<void>>();
    const authorizeBot = async (botId: string, scope?: KeyScope) => {
      const known = authorized.get(botId) ?? domains.bots.authorize(caller(), botId);
      authorized.set(botId, known);
      await known;
      if (scope) authorizeScope(caller(), scope);
    };
    return { ...domains, signal, setHeader, caller, authorizeBot };
  };
}
