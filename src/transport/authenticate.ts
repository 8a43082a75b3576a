import type { Caller } from '../accounts/caller.ts';
import type { Keys } from '../accounts/keys.ts';
import { type Limits, networkOf } from '../accounts/limits.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import { GatewayError } from '../errors.ts';

/**
 * Authenticates the value of an `Authorization` header.
 *
 * @param address the client's. If it has exceeded its limit, the lookup of an uncached key is batched, up to 100 ms later.
 * @returns the caller, or the error `missing_api_key` or `invalid_api_key`, which the transport reports in its own form.
 */
export type Authenticate = (
  authorization: unknown,
  address: string | undefined,
) => Promise<Caller | GatewayError>;

/** Compact form of a signed or encrypted JSON Web Token. Source: RFC 7515 and 7516, section 7.1. */
const JWT = /^[\w-]+(\.[\w-]*){2,4}$/;

/** Creates the authentication that every transport uses. Source: RFC 6750, section 2.1. */
export function createAuthenticate({
  keys,
  sessionTokens,
  limits,
}: {
  keys: Keys;
  sessionTokens: SessionTokens;
  limits: Pick<Limits, 'isSpent'>;
}): Authenticate {
  return async (authorization, address = '') => {
    const text = typeof authorization === 'string' ? authorization : '';
    const secret = /^Bearer +(\S+) *$/i.exec(text)?.[1];
    if (secret === undefined) {
      return new GatewayError(
        'missing_api_key',
        'Send an API key in the header "Authorization: Bearer <API_KEY>".',
      );
    }
    try {
      if (JWT.test(secret)) return await sessionTokens.verify(secret);
      const origin = { address: networkOf(address), isSpent: limits.isSpent(address) };
      return await keys.verify(secret, origin);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  };
}
