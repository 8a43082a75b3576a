import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createSealedClaims } from '../../src/accounts/sealed-claims.ts';
import { createSignedSecrets } from '../../src/accounts/signed-secrets.ts';
import { redactSecrets } from '../../src/text/secret-redaction.ts';

const KEY = Buffer.alloc(32, 1);
const encoded = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
const FORMS: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'percent-encoded in part': (text) => text.replace('_', '%5F').replace('k', '%6b'),
  'percent-encoded as a whole': encoded,
  'percent-encoded in upper case': (text) => encoded(text).toUpperCase(),
  'percent-encoded three times': (text) => encodeURIComponent(encodeURIComponent(encoded(text))),
};

describe.each(Object.keys(FORMS))('a secret %s', (form) => {
  test.each<[string, () => string | Promise<string>]>([
    ['an API key', makeApiKey],
    ['the beginning of an API key', () => makeApiKey().slice(0, 20)],
    ['the token of a console session', createSignedSecrets([KEY], 'parley_cs_').make],
    ['a sign-in code', createSignedSecrets([KEY], 'parley_si_').make],
    [
      'a session token',
      () =>
        createSealedClaims({ secretKeys: [KEY], audience: 'x', claims: z.object({}) }).seal({}, 1),
    ],
  ])('is redacted: %s', async (_what, make) => {
    const secret = FORMS[form]?.(await make()) ?? '';
    for (const [before, after] of [
      ['', ''],
      ['/v1/bots/', '/chat'],
      ['{"path":"/a?b=', '&c","ip":"::1"}'],
      ['http://user:', '@host/'],
    ]) {
      expect(redactSecrets(`${before}${secret}${after}`)).toBe(`${before}[redacted]${after}`);
      expect(redactSecrets(`${before}${secret} ${secret}`)).toBe(`${before}[redacted] [redacted]`);
    }
  });
});

test('other texts stay as they are', () => {
  for (const text of [
    '/v1/bots/parley/chat',
    'parley_session',
    'parley_sessions',
    '/eyJ',
    '%70',
    '',
  ])
    expect(redactSecrets(text)).toBe(text);
});

test.each([
  ['nested encodings', (length: number) => `%${'25'.repeat(length / 2)}`],
  ['beginnings of keys', (length: number) => 'parley_s'.repeat(length / 8)],
  ['encoded beginnings', (length: number) => '%70%61%72%6c%65%79'.repeat(length / 18)],
  ['percent signs', (length: number) => '%25%'.repeat(length / 4)],
])('the time is linear for %s', (_what, make) => {
  const timeOf = (length: number) => {
    const text = make(length);
    const times = Array.from({ length: 3 }, () => {
      const start = process.cpuUsage();
      for (let round = 0; round < 50; round += 1) redactSecrets(text);
      return process.cpuUsage(start).user;
    });
    return Math.min(...times);
  };
  timeOf(100_000);
  const [short, long] = [timeOf(100_000), timeOf(800_000)];
  // Quadratic time would be 64-fold.
  expect(long).toBeLessThan(24 * short + 50_000);
});
