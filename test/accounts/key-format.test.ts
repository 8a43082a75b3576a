import { describe, expect, test } from 'vitest';
import { apiKeyPrefix, hashApiKey, isApiKey, makeApiKey } from '../../src/accounts/key-format.ts';

const ZEROS = '0'.repeat(43);
/** Calculated independently with Python: zlib.crc32(b"0" * 43) is 2018072207. */
const CHECKSUM_OF_ZEROS = '2CZclj';

describe('an API key', () => {
  test('consists of parley_sk_, 43 base62 characters and a 6-character checksum', () => {
    const key = makeApiKey();
    expect(key).toMatch(/^parley_sk_[0-9A-Za-z]{49}$/);
    expect(isApiKey(key)).toBe(true);
    expect(makeApiKey()).not.toBe(key);
  });

  test('has the CRC-32 of its 43 characters in base62 as its checksum', () => {
    expect(isApiKey(`parley_sk_${ZEROS}${CHECKSUM_OF_ZEROS}`)).toBe(true);
  });

  test('with one wrong character is refused without a lookup', () => {
    const key = makeApiKey();
    for (let place = 'parley_sk_'.length; place < key.length; place += 1) {
      const typed = key[place] === 'x' ? 'y' : 'x';
      expect(isApiKey(key.slice(0, place) + typed + key.slice(place + 1))).toBe(false);
    }
  });

  test.each(['', 'parley_sk_', 'sk-abc', `parley_sk_${'a'.repeat(49)}`, ` ${makeApiKey()}`])(
    'is not %j',
    (text) => {
      expect(isApiKey(text)).toBe(false);
    },
  );

  test('is stored as its SHA-256 hash and shown by its first characters', () => {
    const key = `parley_sk_${ZEROS}${CHECKSUM_OF_ZEROS}`;
    expect(hashApiKey(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashApiKey(key)).not.toBe(hashApiKey(makeApiKey()));
    expect(apiKeyPrefix(key)).toBe('parley_sk_0000');
  });
});
