import fc from 'fast-check';

/** An encoding of a value. A list of numbers selects how each character is written. */
export type Encoder = (value: string, choices: number[]) => string;

const eachCharacter =
  (write: (character: string, choice: number) => string): Encoder =>
  (value, choices) =>
    Array.from(value, (character, index) =>
      write(character, choices[index % Math.max(choices.length, 1)] ?? 0),
    ).join('');

/** The hexadecimal digits of a number, each in either case. */
const hex = (number: number, digits: number, choice: number) =>
  Array.from(number.toString(16).padStart(digits, '0'), (digit, index) =>
    (choice >> index) & 1 ? digit.toUpperCase() : digit,
  ).join('');

const percent = (character: string, choice: number) =>
  [...Buffer.from(character)].map((byte) => `%${hex(byte, 2, choice)}`).join('');

const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\n': '\\n',
  '\t': '\\t',
};
const NAMED: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  "'": '&apos;',
  ø: '&oslash;',
};

/** Encodings that escape characters separately: each is written as it is, if allowed, or as one of its escapes. */
export const ESCAPES: Record<string, Encoder> = {
  percent: eachCharacter((character, choice) =>
    choice % 2 || /[%\s]|\P{ASCII}/u.test(character) ? percent(character, choice >> 1) : character,
  ),
  form: eachCharacter((character, choice) => {
    if (character === ' ' && choice % 2) return '+';
    return choice % 2 || /[%+\s]|\P{ASCII}/u.test(character)
      ? percent(character, choice >> 1)
      : character;
  }),
  json: eachCharacter((character, choice) => {
    if (choice % 3 === 1 && SHORT[character]) return SHORT[character];
    if (choice % 3 === 0 && !/["\\\n\t]/.test(character)) return character;
    return Array.from(
      { length: character.length },
      (_, index) => `\\u${hex(character.charCodeAt(index), 4, choice >> 2)}`,
    ).join('');
  }),
  html: eachCharacter((character, choice) => {
    const code = character.codePointAt(0) ?? 0;
    if (choice % 4 === 0 && character !== '&') return character;
    if (choice % 4 === 1 && NAMED[character]) return NAMED[character];
    return choice % 4 === 2 ? `&#${code};` : `&#x${hex(code, 2, choice >> 2)};`;
  }),
};

/** Encodings that encode a whole value at once. */
export const ENCODERS: Record<string, Encoder> = {
  plain: (value) => value,
  ...ESCAPES,
  hexadecimal: (value, choices) =>
    [...Buffer.from(value)]
      .map((byte, index) => hex(byte, 2, choices[index % Math.max(choices.length, 1)] ?? 0))
      .join(''),
  ...Object.fromEntries(
    Object.entries(ESCAPES).flatMap(([outer, encode]) =>
      Object.entries(ESCAPES)
        .filter(([inner]) => inner !== 'form')
        .map(([inner, encodeFirst]): [string, Encoder] => [
          `${outer} of ${inner}`,
          (value, choices) => encode(encodeFirst(value, choices), choices.toReversed()),
        ]),
    ),
  ),
};

export const choices = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 });

/** A value with a unique start and end, and arbitrary characters between. */
export const value = fc
  .string({
    unit: fc.constantFrom(...'abc019%\\/+&;"\'<> =#xu{}\n\tø€🔑'),
    minLength: 6,
    maxLength: 40,
  })
  .map((middle) => `V${middle}Z`);
