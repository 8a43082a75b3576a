import { decodeHTMLStrict } from 'entities/decode';

type Decoder = (text: string) => string;

const bytes = (run: string) => Buffer.from(run.replaceAll('%', ''), 'hex').toString();
const SHORT: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const percent: Decoder = (text) => text.replaceAll(/(?:%[\da-f]{2})+/gi, bytes);
const form: Decoder = (text) =>
  text.replaceAll(/\+|(?:%[\da-f]{2})+/gi, (run) => (run === '+' ? ' ' : bytes(run)));
const backslash: Decoder = (text) =>
  text.replaceAll(
    /\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|([bfnrt"'\\/]))/g,
    (_escape, unicode?: string, byte?: string, letter?: string) =>
      letter === undefined
        ? String.fromCharCode(Number.parseInt(unicode ?? byte ?? '', 16))
        : (SHORT[letter] ?? letter),
  );
const entities: Decoder = (text) =>
  text.replaceAll(/&(?:#\d{1,10}|#x[\da-f]{1,8}|[a-z][a-z\d]*);/gi, decodeHTMLStrict);

/** A text as it is, decoded once, and decoded twice as by redaction. What is not an escape stays as it is. */
export const decodings = (text: string): string[] => {
  const once = [percent, form, backslash, entities].map((decode) => decode(text));
  const inner = [percent, backslash, entities];
  return [text, ...once, ...once.flatMap((decoded) => inner.map((decode) => decode(decoded)))];
};
