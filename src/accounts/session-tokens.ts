import { hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { Environment } from '../generated/prisma/client.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { type Caller, mayUseBot, type SessionGrant } from './caller.ts';
import type { Keys } from './keys.ts';

/** Maximum and default lifetime of a token, in seconds. */
export const MAX_TOKEN_SECONDS = 3_600;

/** Direct encryption with AES-256-GCM (RFC 7518, sections 4.5 and 5.3). */
const KEY_MANAGEMENT = 'dir';
const ENCRYPTION = 'A256GCM';
const AUDIENCE = 'parley-session';

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
  /**
   * @returns the caller that issued the token, restricted to the token's session.
   * @throws GatewayError `invalid_api_key` if the token is forged or expired, or if its key is revoked or expired.
   */
  verify(token: string): Promise<Caller>;
};

const claims = z.object({
  exp: z.number(),
  sub: z.string(),
  bot: z.string(),
  session: z.string(),
  environment: z.enum(Environment),
  context: z.custom<JsonObject>(isJsonObject).optional(),
  allowContext: z.boolean().optional(),
});

/**
 * The tokens are JSON Web Tokens (RFC 7519), encrypted and authenticated with a key derived from the secret key. A page
 * can neither read nor change its token.
 *
 * @param secretKeys the current key, then the previous ones, whose tokens stay valid.
 */
export function createSessionTokens({
  secretKeys,
  keys,
  now = Date.now,
}: {
  secretKeys: Uint8Array[];
  keys: Pick<Keys, 'find'>;
  now?: (() => number) | undefined;
}): SessionTokens {
  const encryptionKeys = secretKeys.map(
    (key) => new Uint8Array(hkdfSync('sha256', key, '', 'parley encrypted session tokens', 32)),
  );
  const [present] = encryptionKeys;
  if (present === undefined) throw new Error('There is no secret key.');

  const read = async (token: string) => {
    for (const key of encryptionKeys) {
      try {
        const options = {
          keyManagementAlgorithms: [KEY_MANAGEMENT],
          contentEncryptionAlgorithms: [ENCRYPTION],
          audience: AUDIENCE,
          currentDate: new Date(now()),
        };
        const { payload } = await jwtDecrypt(token, key, { ...options, requiredClaims: ['exp'] });
        return claims.parse(payload);
      } catch (error) {
        if (error instanceof errors.JWEDecryptionFailed) continue;
        if (error instanceof errors.JOSEError) throw invalidToken();
        throw error;
      }
    }
    throw invalidToken();
  };

  return {
    async issue({ key }, { botId, sessionId, ...grant }, expiresIn) {
      const end = now() + expiresIn * 1_000;
      // Round down, so that the token never outlives its key.
      const seconds = Math.floor(Math.min(end, key.expiresAt?.getTime() ?? end) / 1_000);
      const token = await new EncryptJWT({ bot: botId, session: sessionId, ...grant })
        .setProtectedHeader({ alg: KEY_MANAGEMENT, enc: ENCRYPTION, typ: 'JWT' })
        .setAudience(AUDIENCE)
        .setSubject(key.id)
        .setExpirationTime(seconds)
        .encrypt(present);
      return { token, expiresAt: new Date(seconds * 1_000) };
    },

    async verify(token) {
      const claimed = await read(token);
      return callerOf(claimed, await keys.find(claimed.sub));
    },
  };
}

/** Returns the caller of a token. It never has more rights than the issuer's key has now. */
function callerOf(claimed: z.output<typeof claims>, issuer: Caller): Caller {
  const { exp, bot, session, environment, context, allowContext } = claimed;
  if (!issuer.key.scopes.includes('CHAT') || !mayUseBot(issuer, bot)) throw invalidToken();
  const { reading } = issuer;
  return {
    account: issuer.account,
    key: {
      ...issuer.key,
      scopes: ['CHAT'],
      restricted: true,
      botIds: [bot],
      expiresAt: new Date(exp * 1_000),
    },
    session: { botId: bot, sessionId: session, environment, context, allowContext },
    ...(reading && {
      reading: {
        version: reading.version,
        renew: async (version) => callerOf(claimed, await reading.renew(version)),
      },
    }),
  };
}

function invalidToken(): GatewayError {
  return new GatewayError('invalid_api_key', 'This session token is invalid or has expired.');
}
