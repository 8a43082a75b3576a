import type { FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/caller.ts';
import type { ConsoleSessions } from '../accounts/console-sessions.ts';
import type { KeyOrigin } from '../accounts/key-lookup.ts';
import type { Keys } from '../accounts/keys.ts';
import type { Limits } from '../accounts/limits.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import { GatewayError } from '../errors/errors.ts';
import { SessionCookie } from './console-cookie.ts';
import { credentialOf } from './own-page.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of `senderOf`; `null` before its first call. */
    sender: Promise<Caller | GatewayError> | null;
  }
}

/**
 * Authenticates a request.
 *
 * @param credential the value of its `Authorization` header, or the cookie of a console session.
 * @param address the client's. If it has exceeded its limit, the lookup of an uncached key is batched, up to 100 ms later.
 * @returns the caller, or the error `missing_api_key` or `invalid_api_key`, which the transport reports in its own form.
 */
export type Authenticate = (
  credential: unknown,
  address: string | undefined,
) => Promise<Caller | GatewayError>;

/** Compact form of a signed or encrypted JSON Web Token. Source: RFC 7515 and 7516, section 7.1. */
const JWT = /^[\w-]+(\.[\w-]*){2,4}$/;

/** Creates the authentication that every transport uses. Source: RFC 6750, section 2.1. */
export function createAuthenticate({
  keys,
  sessionTokens,
  consoleSessions,
  limits,
}: {
  keys: Keys;
  sessionTokens: SessionTokens;
  consoleSessions: Pick<ConsoleSessions, 'verify'>;
  limits: Pick<Limits, 'originOf'>;
}): Authenticate {
  const verify = async (credential: unknown, origin: KeyOrigin): Promise<Caller> => {
    if (credential instanceof SessionCookie)
      return consoleSessions.verify(credential.token, origin);
    const text = typeof credential === 'string' ? credential : '';
    const secret = /^Bearer +(\S+) *$/i.exec(text)?.[1];
    if (secret === undefined) {
      const message = 'Send an API key in the header "Authorization: Bearer <API_KEY>".';
      throw new GatewayError('missing_api_key', message);
    }
    return JWT.test(secret) ? sessionTokens.verify(secret, origin) : keys.verify(secret, origin);
  };

  return async (credential, address) => {
    try {
      return await verify(credential, limits.originOf(address));
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  };
}

/** Authenticates an HTTP request by its own credential, once: all its steps share one look-up. */
export function senderOf(
  request: FastifyRequest,
  authenticate: Authenticate,
): Promise<Caller | GatewayError> {
  request.sender ??= authenticate(credentialOf(request), request.ip);
  return request.sender;
}
