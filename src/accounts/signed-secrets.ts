import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const RANDOM_BYTES = 32;
const SIGNATURE_BYTES = 16;

/**
 * Random secrets with a signature of this installation. A guessed or mistyped one is refused by its form, without a
 * database look-up.
 */
export type SignedSecrets = {
  /** @returns the prefix, and 64 characters of base64url: 32 random bytes and the signature. */
  make(): string;
  /** Whether this installation made a text, under the current secret key or a previous one. It may have ended since. */
  isOwn(text: string): boolean;
};

/**
 * @param secretKeys the current key, then the previous ones, whose secrets stay valid.
 * @param prefix separates kinds of secrets, and shows the log what to redact: `parley_`, two letters and `_`.
 */
export function createSignedSecrets(secretKeys: Uint8Array[], prefix: string): SignedSecrets {
  const pattern = new RegExp(`^${prefix}[\\w-]{64}$`);
  const signers = secretKeys.map((secretKey) => {
    const key = Buffer.from(
      hkdfSync('sha256', secretKey, '', `parley signed secrets ${prefix}`, 32),
    );
    return (random: Buffer) =>
      createHmac('sha256', key).update(random).digest().subarray(0, SIGNATURE_BYTES);
  });
  const [sign] = signers;
  if (sign === undefined) throw new Error('There is no secret key.');

  return {
    make() {
      const random = randomBytes(RANDOM_BYTES);
      return prefix + Buffer.concat([random, sign(random)]).toString('base64url');
    },

    isOwn(text) {
      if (!pattern.test(text)) return false;
      const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
      const [random, signature] = [bytes.subarray(0, RANDOM_BYTES), bytes.subarray(RANDOM_BYTES)];
      return signers.some((signer) => timingSafeEqual(signer(random), signature));
    },
  };
}
