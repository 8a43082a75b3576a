import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/deployments/redact.ts';

const TOKEN = 'tøken/+ with space 123';
const QUOTED = 'with "quotes" and \\';
const variables = { TOKEN, QUOTED, PASSWORD: 'hunter2-hunter2', SHORT: 'short' };
const redactor = createRedactor(variables);

describe('the values of variables', () => {
  test.each([
    ['plain', TOKEN],
    ['in JSON', JSON.stringify(QUOTED).slice(1, -1)],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    [
      'percent-encoded in small letters',
      encodeURIComponent(TOKEN).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['percent-encoded as a form', encodeURIComponent(TOKEN).replaceAll('%20', '+')],
    ['in base64', Buffer.from(TOKEN).toString('base64url')],
  ])('are taken out of text: %s', (_what, form) => {
    expect(redactor.redact(`Before ${form} and after.`)).toMatch(
      /^Before \[env\.(?:TOKEN|QUOTED)\]\S{0,2} and after\.$/,
    );
  });

  test.each(['', 'u', 'us', 'user'])('are taken out of base64 after %j', (user) => {
    const encoded = Buffer.from(`${user}:${variables.PASSWORD}`).toString('base64');
    const text = redactor.redact(`Basic ${encoded}`);
    expect(text).toContain('[env.PASSWORD]');
    expect(Buffer.from(text.slice(6), 'base64').toString()).not.toContain('hunter2');
  });

  test('are left where they are shorter than 8 characters, and other text is left as it is', () => {
    expect(redactor.redact('A short text about hunters.')).toBe('A short text about hunters.');
    expect(createRedactor({}).redact('Anything.')).toBe('Anything.');
  });

  test('are taken out however the text is cut', () => {
    const word = fc.constantFrom(
      TOKEN,
      variables.PASSWORD,
      'hunter2-',
      'tøken',
      ' ',
      'text',
      '2-hunter2',
    );
    fc.assert(
      fc.property(fc.array(word), fc.array(fc.nat(20)), (words, cuts) => {
        const text = words.join('');
        const stream = redactor.stream();
        let out = '';
        let rest = text;
        for (const cut of cuts) {
          out += stream.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        out += stream.push(rest) + stream.end();
        expect(out).toBe(redactor.redact(text));
        for (const value of [TOKEN, variables.PASSWORD]) expect(out).not.toContain(value);
      }),
    );
  });

  test('keep nothing back of text that is not theirs', () => {
    const stream = redactor.stream();
    expect(stream.push('Hey,')).toBe('Hey,');
    expect(stream.push(' hunter')).toBe(' ');
    expect(stream.push('s')).toBe('hunters');
    expect(stream.end()).toBe('');
  });
});
