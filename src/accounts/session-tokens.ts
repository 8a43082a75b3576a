import { z } from 'zod';
import { GatewayError } from '../errors/errors.ts';
import { Channel, Environment } from '../generated/prisma/client.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';
import { type Caller, mayUseBot, type SessionGrant } from './caller.ts';
import type { KeyOrigin } from './key-lookup.ts';
import type { Keys } from './keys.ts';
import { createSealedClaims } from './sealed-claims.ts';
import { type FindVisited, visitorOf } from './visitors.ts';

/** Maximum and default lifetime of a token, in seconds. */
export const MAX_TOKEN_SECONDS = 3_600;

/** A new token. */
export type IssuedToken = { token: string; expiresAt: Date };

/** Session tokens for browsers: each is for one session of one bot, for at most an hour. They are not stored. */
export type SessionTokens = {
  /**
   * Issues a token. It never outlives the caller's key.
   *
   * @param expiresIn seconds.
   */
  issue(caller: Caller, session: SessionGrant, expiresIn: number): Promise<IssuedToken>;
  /** Issues a token for a visitor of a bot's chat page. It works while the bot has the page. */
  issueToVisitor(botId: string, sessionId: string): Promise<IssuedToken>;
  /**
   * @returns the caller that issued the token, restricted to the token's session, or the visitor.
   * @throws GatewayError `invalid_api_key` if the token is forged or expired, if its key is revoked or expired, or if the
   *   visitor's bot has no chat page.
   */
  verify(token: string, origin?: KeyOrigin): Promise<Caller>;
};

const claims = z.object({
  /** The key that issued the token. A visitor's token has none. */
  sub: z.string().optional(),
  bot: z.string(),
  session: z.string(),
  environment: z.enum(Environment),
  context: z.custom<JsonObject>(isJsonObject).optional(),
  allowContext: z.boolean().optional(),
  channel: z.enum(Channel).optional(),
});

type Claims = z.output<typeof claims> & { exp: number };

export function createSessionTokens({
  secretKeys,
  keys,
  findVisited,
  now = Date.now,
}: {
  /** The current key, then the previous ones, whose tokens stay valid. */
  secretKeys: Uint8Array[];
  keys: Pick<Keys, 'find'>;
  findVisited: FindVisited;
  now?: (() => number) | undefined;
}): SessionTokens {
  const sealed = createSealedClaims({ secretKeys, audience: 'parley-session', claims, now });

  return {
    async issue({ key }, { botId, sessionId, visited: _, ...grant }, expiresIn) {
      const end = now() + expiresIn * 1_000;
      // Round down, so that the token never outlives its key.
      const seconds = Math.floor(Math.min(end, key.expiresAt?.getTime() ?? end) / 1_000);
      const own = { sub: key.id, bot: botId, session: sessionId };
      return {
        token: await sealed.seal({ ...own, ...grant }, seconds),
        expiresAt: new Date(seconds * 1_000),
      };
    },

    async issueToVisitor(botId, sessionId) {
      const seconds = Math.floor(now() / 1_000) + MAX_TOKEN_SECONDS;
      const own = { bot: botId, session: sessionId, environment: 'PRODUCTION' as const };
      return {
        token: await sealed.seal({ ...own, channel: 'WEB' }, seconds),
        expiresAt: new Date(seconds * 1_000),
      };
    },

    async verify(token, origin) {
      const claimed = await sealed.open(token);
      if (!claimed) throw invalidToken();
      if (claimed.sub !== undefined) return callerOf(claimed, await keys.find(claimed.sub, origin));
      const visited = await findVisited(claimed.bot, origin);
      if (!visited) throw invalidToken();
      return visitorOf(visited, claimed.session, new Date(claimed.exp * 1_000));
    },
  };
}

/** Returns the caller of a token. It never has more rights than the issuer's key has now. */
function callerOf(claimed: Claims, issuer: Caller): Caller {
  const { exp, bot, session, environment, context, allowContext, channel } = claimed;
  if (!issuer.key.scopes.includes('CHAT') || !mayUseBot(issuer, bot)) throw invalidToken();
  const { cacheEntry } = issuer;
  return {
    account: issuer.account,
    key: {
      ...issuer.key,
      scopes: ['CHAT'],
      restricted: true,
      botIds: [bot],
      expiresAt: new Date(exp * 1_000),
    },
    session: { botId: bot, sessionId: session, environment, context, allowContext, channel },
    ...(cacheEntry && {
      cacheEntry: {
        version: cacheEntry.version,
        renew: async (version) => callerOf(claimed, await cacheEntry.renew(version)),
      },
    }),
  };
}

function invalidToken(): GatewayError {
  return new GatewayError('invalid_api_key', 'This session token is invalid or has expired.');
}
