import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, type Redactor } from '../../src/redaction/redact.ts';
import { decodings } from '../helpers/decodings.ts';
import { choices, ENCODERS, type Encoder, ESCAPES, value } from '../helpers/encodings.ts';
import { rounds, runsOf } from '../helpers/rounds.ts';

const TOKEN = 'tøken/+ with space 123';
const QUOTED = 'with "quotes" and \\';
const variables = {
  TOKEN,
  QUOTED,
  PASSWORD: 'hunter2-hunter2',
  SIGNS: 'ÿÿÿ>>>???',
  APOSTROPHE: "it's a secret",
  SHORT: 'short',
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const redactor = createRedactor(variables);

/** The same text in pieces, split at some positions. */
function inPieces({ stream }: Redactor, text: string, cuts: number[]): string {
  const { push, end } = stream();
  let out = '';
  let rest = text;
  for (const cut of cuts) {
    out += push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return out + push(rest) + end();
}

const cuts = fc.array(fc.nat(9), { maxLength: 60 });
/** Text without a value, but with the first characters of escapes. */
const surroundingText = fc.string({
  unit: fc.constantFrom(...'.,:;= %\\&+#xu"<>{}/n4'),
  maxLength: 8,
});

describe('the values of variables', () => {
  test.each(Object.entries(ENCODERS))('are replaced exactly, at any split: %s', (_name, encode) => {
    fc.assert(
      fc.property(
        value,
        choices,
        surroundingText,
        surroundingText,
        cuts,
        (secret, how, before, after, where) => {
          const one = createRedactor({ SECRET: secret });
          const text = `${before} ${encode(secret, how)} ${after}`;
          expect(one.redact(text)).toBe(`${before} [env.SECRET] ${after}`);
          expect(inPieces(one, text, where)).toBe(`${before} [env.SECRET] ${after}`);
        },
      ),
      { numRuns: rounds(50, 1_000) },
    );
  });

  test('remain in no text that is decoded twice, however their characters are encoded', () => {
    const secret = fc.constantFrom('Vab%c\\d&e Z', 'V"\\n&amp;+%41Z', 'x y %2B;é', '\\u0041\\\\"q');
    const part = fc.constantFrom(
      ...['%', '\\', '&', '%4', '\\u00', '&#', '+', 'V', '%41', '&amp;'],
    );
    const encoders = fc.array(
      fc.constantFrom<Encoder[]>((text) => text, ...Object.values(ESCAPES)),
      {
        minLength: 2,
        maxLength: 3,
      },
    );
    const parts = fc.array(part, { maxLength: 3 });
    const encoded = (text: string, how: Encoder[], numbers: number[]) =>
      Array.from(text, (character, index) =>
        how[(numbers[index % numbers.length] ?? 0) % how.length]?.(character, numbers.slice(index)),
      ).join('');
    fc.assert(
      fc.property(
        secret,
        encoders,
        choices,
        fc.boolean(),
        parts,
        parts,
        cuts,
        (value, how, numbers, twice, before, after, where) => {
          const one = createRedactor({ A: value });
          const once = encoded(value, how, numbers);
          const inner = twice ? encoded(once, how, numbers.toReversed()) : once;
          const text = before.join('') + inner + after.join('');
          const clean = one.redact(text);
          expect(decodings(clean).filter((decoded) => decoded.includes(value))).toEqual([]);
          expect(inPieces(one, text, where)).toBe(clean);
        },
      ),
      runsOf(2_000),
    );
  });

  test.each(['base64', 'base64url'] as const)(
    'are replaced exactly in %s, at any offset and any split',
    (encoding) => {
      const bytes = fc.uint8Array({ maxLength: 7 });
      fc.assert(
        fc.property(
          value,
          bytes,
          bytes,
          surroundingText,
          cuts,
          (secret, first, last, before, where) => {
            const one = createRedactor({ SECRET: secret });
            const encoded = Buffer.concat([first, Buffer.from(secret), last]).toString(encoding);
            // Characters that encode only bits of the value, or bits of it and of neighbouring bytes.
            const from = Math.floor((first.length * 8) / 6);
            const to = Math.ceil(((first.length + Buffer.byteLength(secret)) * 8) / 6);
            const text = `${before} ${encoded} .`;
            const clean = `${before} ${encoded.slice(0, from)}[env.SECRET]${encoded.slice(to)} .`;
            expect(one.redact(text)).toBe(clean);
            expect(inPieces(one, text, where)).toBe(clean);
          },
        ),
        runsOf(100),
      );
    },
  );

  test.each([
    ['in base64 of several lines', base64(TOKEN).replaceAll(/.{8}/g, '$&\r\n')],
    ['in base64 within JSON', base64(variables.SIGNS).replaceAll('/', '\\/')],
    ['in base64 within a query', encodeURIComponent(base64(variables.SIGNS))],
    ['in base64 of JSON', base64(JSON.stringify({ a: QUOTED }))],
    [
      'with a character of which one byte is encoded twice',
      `t%c3%&#98;8${encodeURIComponent(TOKEN.slice(2))}`,
    ],
    ['as escape sequences', '\\x68unter2\\x2Dhunter2'],
    ['with an apostrophe', encodeURIComponent(variables.APOSTROPHE).replaceAll("'", '%27')],
  ])('are replaced %s', (_what, text) => {
    const clean = redactor.redact(text);
    expect(clean).toMatch(/^[^[]{0,12}\[env\.\w+\][^[]{0,4}$/);
  });

  // A normalized URL keeps each `%` and encodes spaces, so a value with an escape of its own may be encoded in part.
  test.each([
    ['1b   b+1b', '%%1b%20%20%20b%2B1b', '%%[env.PART]'],
    ['x%41y z value', 'a=x%41y%20z%20value', 'a=[env.PART]'],
    ['a\\u0041 "quoted"', 'a\\u0041 \\"quoted\\"', '[env.PART]'],
    ['Tom &amp; Jerry <3', 'Tom &amp; Jerry &lt;3', '[env.PART]'],
  ])('are replaced if only a part of %j is encoded', (secret, text, clean) => {
    const one = createRedactor({ PART: secret });
    expect(one.redact(text)).toBe(clean);
    expect(
      inPieces(
        one,
        text,
        Array.from(text, () => 1),
      ),
    ).toBe(clean);
  });

  test.each(['', 'u', 'us', 'user'])('are replaced in base64 after %j', (user) => {
    const encoded = Buffer.from(`${user}:${variables.PASSWORD}`).toString('base64');
    const text = redactor.redact(`Basic ${encoded}`);
    expect(text).toContain('[env.PASSWORD]');
    expect(Buffer.from(text.slice(6), 'base64').toString()).not.toContain('hunter2');
  });

  test('are not replaced if they have fewer than 8 characters', () => {
    expect(redactor.redact('A short text about hunters.')).toBe('A short text about hunters.');
    expect(createRedactor({}).redact('Anything.')).toBe('Anything.');
  });

  test('leave other text unchanged, at any split', () => {
    const units = fc.constantFrom(...Object.values(variables).join(''), ...'%2&;#x\\u0aAZ=');
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 60 }), cuts, (text, where) => {
        const one = createRedactor({ TOKEN: 'V tøken that is nowhere Z' });
        expect(one.redact(text)).toBe(text);
        expect(inPieces(one, text, where)).toBe(text);
      }),
    );
  });

  test('are replaced equally in any pieces if they overlap and repeat', () => {
    const values = { A: 'aaaaaaaa', B: 'aaaaaaaabaaaaaaa', C: 'baaaaaaaa%61', D: 'abababab' };
    const one = createRedactor(values);
    const part = fc.constantFrom(
      ...['a', 'b', 'aaaa', 'abab', '%61', '%', '\\', '&#97;', 'YWFh', '6161', '\\u0061', ' '],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), cuts, (parts, where) => {
        const text = parts.join('');
        const clean = one.redact(text);
        expect(inPieces(one, text, where)).toBe(clean);
        for (const secret of Object.values(values)) expect(clean).not.toContain(secret);
      }),
      runsOf(100),
    );
  });

  test('keep their own names if adjacent, and get the name of the longest if they overlap', () => {
    const one = createRedactor({ A: '12345678', B: '87654321', LONG: '0012345678' });
    expect(one.redact('1234567887654321')).toBe('[env.A][env.B]');
    expect(one.redact('x0012345678x')).toBe('x[env.LONG]x');
  });

  test('do not delay other text', () => {
    const stream = createRedactor({ PASSWORD: variables.PASSWORD }).stream();
    expect(stream.push('Hey,')).toBe('Hey,');
    expect(stream.push(' hunter')).toBe(' ');
    expect(stream.push('s')).toBe('hunters');
    expect(stream.end()).toBe('');
    expect(stream.push('And then hunter2-')).toBe('And then ');
    expect(stream.end()).toBe('hunter2-');
  });

  test('delay no more text than the length of a value', () => {
    const one = createRedactor({ A: 'x'.repeat(40), B: `${'ab'.repeat(20)}c` });
    const stream = one.stream();
    const sent = (text: string) => stream.push(text).length;
    expect(sent('ab'.repeat(50_000))).toBeGreaterThanOrEqual(100_000 - 40);
    expect(sent('YWJh'.repeat(50_000))).toBeGreaterThanOrEqual(200_000 - 60);
    expect(sent('%'.repeat(50_000))).toBeGreaterThanOrEqual(50_000 - 60);
    // A repeated value without end is replaced once.
    stream.push('x'.repeat(100_000));
    expect(stream.push('.')).toBe('[env.A].');
  });

  test('are replaced one by one: a million of them, without hanging', () => {
    const one = createRedactor({ A: 'abcdefgh' });
    const clean = one.redact('abcdefgh'.repeat(1_000_000));
    expect(clean.length).toBe('[env.A]'.length * 1_000_000);
  });

  test('are kept once while a longer value may hold many of them', () => {
    const one = createRedactor({ A: 'abcdefgh', LONG: `${'abcdefgh'.repeat(4_000)}X` });
    const stream = one.stream();
    const text = 'abcdefgh'.repeat(1_000);
    const { push } = Array.prototype;
    let pushes = 0;
    Array.prototype.push = function (...items) {
      pushes += 1;
      return push.apply(this, items);
    };
    let clean = '';
    try {
      for (const unit of text) clean += stream.push(unit);
    } finally {
      Array.prototype.push = push;
    }
    expect(clean + stream.end()).toBe('[env.A]'.repeat(1_000));
    expect(pushes).toBeLessThan(text.length);
  });

  test('take linear time in the length of the text, even with adversarial values', () => {
    const values = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`V${index}`, 'a'.repeat(310) + index]),
    );
    const hostile = createRedactor({ ...values, LONG: 'a%61'.repeat(8_192) });
    const text = ['a', 'a%61', '&#97;', 'YWFh', '61', '\\u0061'].map((part) =>
      part.repeat(32_768 / part.length),
    );
    const before = process.cpuUsage();
    for (const one of text) hostile.redact(one);
    const { user, system } = process.cpuUsage(before);
    // Comparing each position with each value would take minutes.
    expect((user + system) / 1e6).toBeLessThan(20);
  });
});
