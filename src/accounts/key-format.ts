import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'parley_sk_';
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new API key: `parley_sk_`, 43 base62 characters (256 random bits), and 6 characters of checksum (the
 * CRC-32 of the 43, in base62, padded with `0`), so that a typing error is refused without a look-up.
 */
export function makeApiKey(): string {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), BODY_LENGTH);
  return PREFIX + body + checksum(body);
}

/** Whether a text has the form of an API key and a checksum that fits. */
export function isApiKey(text: string): boolean {
  return (
    PATTERN.test(text) &&
    text.endsWith(checksum(text.slice(PREFIX.length, PREFIX.length + BODY_LENGTH)))
  );
}

/** SHA-256 in hex: all that is stored of a key. The key's own randomness makes a salt needless. */
export function hashApiKey(secret: string): string {
  return hash('sha256', secret);
}

/** The beginning of a key that may be shown, to recognise it by. */
export function apiKeyPrefix(secret: string): string {
  return secret.slice(0, PREFIX.length + 4);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; rest > 0n; rest /= 62n) digits = ALPHABET[Number(rest % 62n)] + digits;
  return digits.padStart(length, '0');
}
