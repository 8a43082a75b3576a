import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'parley_sk_';
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Generates an API key: `parley_sk_`, 43 base62 characters (256 random bits), and a checksum of 6 characters (the CRC-32
 * of the 43, in base62, padded with `0`). The checksum rejects a mistyped key without a database lookup.
 */
export function makeApiKey(): string {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), BODY_LENGTH);
  return PREFIX + body + checksum(body);
}

/** Whether a text has the form of an API key and a correct checksum. */
export function isApiKey(text: string): boolean {
  return (
    PATTERN.test(text) &&
    text.endsWith(checksum(text.slice(PREFIX.length, PREFIX.length + BODY_LENGTH)))
  );
}

/** SHA-256 in hex. Only this hash of a key is stored. It needs no salt, because the key is random. */
export function hashApiKey(secret: string): string {
  return hash('sha256', secret);
}

/** The first characters of a key. They may be shown, to identify the key. */
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
