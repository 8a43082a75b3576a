import { hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { z } from 'zod';

/** Direct encryption with AES-256-GCM (RFC 7518, sections 4.5 and 5.3). */
const KEY_MANAGEMENT = 'dir';
const ENCRYPTION = 'A256GCM';

/**
 * Claims in an encrypted and authenticated JSON Web Token (RFC 7519), so that its holder can neither read nor change
 * them.
 */
export type SealedClaims<Claims> = {
  /** @param expiresAt Unix seconds. */
  seal(claims: Claims, expiresAt: number): Promise<string>;
  /** @returns `undefined` if the token is forged, expired or for another audience. */
  open(token: string): Promise<(Claims & { exp: number }) | undefined>;
};

/**
 * Derives the encryption key from the secret key.
 *
 * @param secretKeys the current key, then the previous ones, whose tokens stay valid.
 * @param audience separates kinds of tokens: one kind does not pass for another.
 */
export function createSealedClaims<Claims extends Record<string, unknown>>({
  secretKeys,
  audience,
  claims,
  now = Date.now,
}: {
  secretKeys: Uint8Array[];
  audience: string;
  claims: z.ZodType<Claims>;
  now?: (() => number) | undefined;
}): SealedClaims<Claims> {
  const encryptionKeys = secretKeys.map(
    (key) => new Uint8Array(hkdfSync('sha256', key, '', 'parley encrypted session tokens', 32)),
  );
  const [present] = encryptionKeys;
  if (present === undefined) throw new Error('There is no secret key.');

  return {
    seal: (sealed, expiresAt) =>
      new EncryptJWT(sealed)
        .setProtectedHeader({ alg: KEY_MANAGEMENT, enc: ENCRYPTION, typ: 'JWT' })
        .setAudience(audience)
        .setExpirationTime(expiresAt)
        .encrypt(present),

    async open(token) {
      for (const key of encryptionKeys) {
        try {
          const { payload } = await jwtDecrypt(token, key, {
            keyManagementAlgorithms: [KEY_MANAGEMENT],
            contentEncryptionAlgorithms: [ENCRYPTION],
            audience,
            currentDate: new Date(now()),
            requiredClaims: ['exp'],
          });
          return { ...claims.parse(payload), exp: z.number().parse(payload.exp) };
        } catch (error) {
          if (error instanceof errors.JWEDecryptionFailed) continue;
          if (error instanceof errors.JOSEError) return undefined;
          throw error;
        }
      }
      return undefined;
    },
  };
}
