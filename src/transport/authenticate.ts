import type { Caller } from '../accounts/caller.ts';
import type { Keys } from '../accounts/keys.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import { GatewayError } from '../errors.ts';

/**
 * Finds out who asks, from the value of an `Authorization` header.
 *
 * @returns the caller, or the refusal (`missing_api_key`, `invalid_api_key`) for the transport to use where
 *   its interface wants it.
 */
export type Authenticate = (authorization: unknown) => Promise<Caller | GatewayError>;

/** How a JSON Web Token looks, signed or encrypted. Source: RFC 7515 and 7516, section 7.1. */
const JWT = /^[\w-]+(\.[\w-]*){2,4}$/;

/** The one authentication for every entrance. Source: RFC 6750, section 2.1. */
export function createAuthenticate({
  keys,
  sessionTokens,
}: {
  keys: Keys;
  sessionTokens: SessionTokens;
}): Authenticate {
  return async (authorization) => {
    const text = typeof authorization === 'string' ? authorization : '';
    const secret = /^Bearer +(\S+) *$/i.exec(text)?.[1];
    if (secret === undefined) {
      return new GatewayError(
        'missing_api_key',
        'Send an API key in the header "Authorization: Bearer <API_KEY>".',
      );
    }
    try {
      return await (JWT.test(secret) ? sessionTokens : keys).verify(secret);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  };
}
