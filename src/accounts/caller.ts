import { GatewayError } from '../errors.ts';
import type {
  Account,
  ApiKey,
  Environment,
  KeyScope,
  Session,
} from '../generated/prisma/client.ts';
import type { JsonObject } from '../json.ts';

/** One conversation of one bot: all that a browser may take part in. */
export type SessionGrant = {
  botId: string;
  sessionId: string;
  environment: Environment;
  /** The context of each of its messages, by the maker of the token. */
  context?: JsonObject | undefined;
  /** Whether the page may send context of its own besides. */
  allowContext?: boolean | undefined;
};

/** Who asks: an account, by one of its keys, or by a token that one of its keys has made for one session. */
export type Caller = {
  account: Account;
  /** For a token: the key that made it, cut down to chatting with the one bot, for as long as the token holds. */
  key: ApiKey;
  session?: SessionGrant;
  /** How the account and the key were read from the database; absent where they are not cached. */
  reading?: {
    /** The account's version that was known then. */
    version: string;
    /**
     * Reads them anew where that version is out of date.
     *
     * @param version the account's current one.
     * @throws GatewayError `invalid_api_key`
     */
    renew(version: string): Promise<Caller>;
  };
};

/** A scope that something takes; of several, any will do. */
export type RequiredScope = KeyScope | readonly KeyScope[];

/**
 * Refuses a caller whose key lacks a scope.
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
 * Keeps a token to its session, which it may leave unsaid. The bot is in its key's keeping.
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
  const message = 'A session token is for one session in one environment alone.';
  throw new GatewayError('insufficient_scope', message);
}

/**
 * The context of a message: what a page sends where its token allows that, and over it what the maker of the token has put
 * into it.
 *
 * @throws GatewayError `invalid_request` for context of a page that may not send any.
 */
export function contextOf(
  session: SessionGrant | undefined,
  sent: JsonObject | undefined,
): JsonObject | undefined {
  if (!session) return sent;
  if (sent && !session.allowContext) {
    const message = 'is fixed by the session token, whose maker has not set allowContext';
    const details = [{ path: 'input.context', message }];
    throw new GatewayError('invalid_request', `context: ${message}`, { details });
  }
  return sent || session.context ? { ...sent, ...session.context } : undefined;
}

/** Whether a session is the one that a token is for. */
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
