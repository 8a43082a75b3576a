import { GatewayError, invalidInput } from '../errors/errors.ts';
import type {
  Account,
  ApiKey,
  Bot,
  Channel,
  Environment,
  KeyScope,
  Session,
} from '../generated/prisma/client.ts';
import type { JsonObject } from '../text/json.ts';

/** The rights of a session token: one session of one bot. */
export type SessionGrant = {
  botId: string;
  sessionId: string;
  environment: Environment;
  /** Context that the token's issuer adds to every message. */
  context?: JsonObject | undefined;
  /** Whether the page may send additional context. */
  allowContext?: boolean | undefined;
  /** Channel of the session's runs. Default: `API`. */
  channel?: Channel | undefined;
  /** The bot, with its settings, if the token belongs to a visitor of its chat page. A visitor has no key. */
  visited?: Bot | undefined;
};

/** A session of the console. It has every right of its key. */
export type ConsoleSessionRef = {
  hash: string;
  /** The latest time at which it ends, even if it is in use. */
  endsAt: Date;
};

/** The authenticated sender of a request: an account, with one of its keys or with a session token. */
export type Caller = {
  account: Account;
  /**
   * For a session token: its issuer's key, restricted to the scope `CHAT`, the one bot and the token's lifetime. For a
   * visitor: these restrictions alone, without the id of a key.
   */
  key: ApiKey;
  session?: SessionGrant;
  /** For a browser that is signed in to the console: its session. */
  consoleSession?: ConsoleSessionRef;
  /** The cache entry of the account and the key; absent if they are not cached. */
  cacheEntry?: {
    /** The account's version when they were read. */
    version: string;
    /**
     * Reads them again under a newer version.
     *
     * @param version the account's current version.
     * @throws GatewayError `invalid_api_key`
     */
    renew(version: string): Promise<Caller>;
  };
};

/** The id of the caller's key; `null` for a visitor. */
export function keyIdOf({ key, session }: Caller): string | null {
  return session?.visited ? null : key.id;
}

/** A required scope. Of several scopes, any one suffices. */
export type RequiredScope = KeyScope | readonly KeyScope[];

/**
 * Rejects a caller whose key lacks a scope.
 *
 * @throws GatewayError `insufficient_scope`
 */
export function authorizeScope({ key }: Caller, required: RequiredScope): void {
  const scopes = [required].flat();
  if (scopes.some((scope) => key.scopes.includes(scope))) return;
  const names = scopes.map((scope) => `"${scope.toLowerCase()}"`).join(' or ');
  throw new GatewayError('insufficient_scope', `This API key lacks the scope ${names}.`);
}

/**
 * Restricts a session token to its session and environment. The session id may be omitted. The key's restriction covers
 * the bot.
 *
 * @throws GatewayError `insufficient_scope`
 */
export function assertOwnSession(
  session: SessionGrant,
  sessionId: string | null | undefined,
  environment: Environment | null | undefined,
): void {
  if ((sessionId ?? session.sessionId) === session.sessionId && environment === session.environment)
    return;
  const message = 'This session token is for another session or environment.';
  throw new GatewayError('insufficient_scope', message);
}

/**
 * Merges the context of a message. The token's context overrides the page's.
 *
 * @throws GatewayError `invalid_request` if the page sends context although its token does not allow it.
 */
export function contextOf(
  session: SessionGrant | undefined,
  sent: JsonObject | undefined,
): JsonObject | undefined {
  if (!session) return sent;
  if (sent && !session.allowContext) {
    const message = 'is not allowed with this session token; its issuer must set allowContext';
    throw invalidInput([{ path: 'input.context', message }]);
  }
  return sent || session.context ? { ...sent, ...session.context } : undefined;
}

/** Whether a session is the session of a token. */
export function isOwnSession(
  grant: SessionGrant | undefined,
  { botId, sessionId, environment }: Pick<Session, 'botId' | 'sessionId' | 'environment'>,
): boolean {
  return (
    grant !== undefined &&
    grant.botId === botId &&
    grant.sessionId === sessionId &&
    grant.environment === environment
  );
}

/** The scopes that a key may grant: its own, and `APPROVE` if it has the scope `ADMIN`. */
export function grantableScopes({ scopes }: Pick<ApiKey, 'scopes'>): KeyScope[] {
  const isAdmin = scopes.includes('ADMIN') && !scopes.includes('APPROVE');
  return isAdmin ? [...scopes, 'APPROVE'] : scopes;
}

/** Whether the caller's key may grant every right that another key has. */
export function covers(
  { key }: Caller,
  other: Pick<ApiKey, 'scopes' | 'restricted' | 'botIds'>,
): boolean {
  const grantable = grantableScopes(key);
  return (
    other.scopes.every((scope) => grantable.includes(scope)) &&
    (!key.restricted || (other.restricted && other.botIds.every((id) => key.botIds.includes(id))))
  );
}

/** Whether the caller's key is unrestricted or includes this bot. */
export function mayUseBot({ key }: Caller, botId: string): boolean {
  return !key.restricted || key.botIds.includes(botId);
}
