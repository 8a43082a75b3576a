import { expect, test } from 'vitest';
import { createSignedSecrets } from '../../src/accounts/signed-secrets.ts';

const [KEY, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const PREFIX = 'parley_cs_';

test('a secret is new each time, and known by its signature alone', () => {
  const { make, isOwn } = createSignedSecrets([KEY], PREFIX);
  const secrets = Array.from({ length: 100 }, make);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^parley_cs_[\w-]{64}$/);
    expect(isOwn(secret)).toBe(true);
  }
});

test('a secret with any character changed, added or removed is refused', () => {
  const { make, isOwn } = createSignedSecrets([KEY], PREFIX);
  const secret = make();
  for (let place = 0; place < secret.length; place += 1) {
    const other = secret[place] === 'A' ? 'B' : 'A';
    expect(isOwn(secret.slice(0, place) + other + secret.slice(place + 1))).toBe(false);
  }
  for (const text of ['', `${secret}A`, secret.slice(0, -1), ` ${secret}`, `${secret}\n`])
    expect(isOwn(text)).toBe(false);
});

test('a secret of another kind or another installation is refused', () => {
  const secret = createSignedSecrets([KEY], PREFIX).make();
  expect(createSignedSecrets([OTHER], PREFIX).isOwn(secret)).toBe(false);
  const code = secret.replace(PREFIX, 'parley_si_');
  expect(createSignedSecrets([KEY], 'parley_si_').isOwn(code)).toBe(false);
});

test('a secret stays valid while its secret key is a previous one', () => {
  const secret = createSignedSecrets([KEY], PREFIX).make();
  expect(createSignedSecrets([OTHER, KEY], PREFIX).isOwn(secret)).toBe(true);
});
