import type { Report } from './diagnostic.ts';
import { quote, type Token } from './token.ts';

/** The end of a string, and whether it has closing quotes. */
type Scan = { end: number; closed: boolean };

const ESCAPE = /\\(?:["\\nt{]|u\{([0-9A-Fa-f]{1,6})\})/y;
const NO_ESCAPE = /\\\S?/uy;

/** `{{ path ?? "default" }}`: the quotes of a default do not end the surrounding string. */
const TEMPLATE_WITH_DEFAULT = /\{\{[ \t]*[\w.]+[ \t]*\?\?[ \t]*"(?:[^"\\\n]|\\.)*"[ \t]*\}\}/y;

/** Text without characters that affect the end of a string. */
const PLAIN = /[^"\\\n{]+/y;
const PLAIN_LINES = /[^"\\]+/y;

/** STRING: `"…"` on one line. */
export function scanString(text: string, start: number, report: Report): Scan {
  let offset = start + 1;
  let templateEnd = offset;
  while (offset < text.length) {
    offset = skip(PLAIN, text, offset);
    const character = text.charAt(offset);
    if (character === '\n') break;
    if (character === '"' && offset >= templateEnd) return { end: offset + 1, closed: true };
    if (character === '{')
      templateEnd = Math.max(templateEnd, skip(TEMPLATE_WITH_DEFAULT, text, offset));
    const endsLine = text.charAt(offset + 1) === '\n' || offset + 1 >= text.length;
    offset += character === '\\' && !endsLine ? scanEscape(text, offset, report) : 1;
  }
  offset = Math.min(offset, text.length);
  const where = offset < text.length ? 'line' : 'file';
  // A brace at the end of the line is probably not part of the text.
  const brace = /\s[{}]\s*$/.exec(text.slice(start, offset));
  const end = brace ? start + brace.index : offset;
  const message = `expected " to close this string, found the end of the ${where}`;
  report('unterminated-string', { start, end }, message);
  return { end, closed: false };
}

/**
 * TRIPLE: three quotes, any lines, three quotes.
 *
 * @param mayClose false after an unclosed text of the source: its search for closing quotes reached the end of the file,
 *   so a further search finds none.
 */
export function scanTriple(text: string, start: number, report: Report, mayClose: boolean): Scan {
  const close = mayClose ? findClose(text, start + 3) : undefined;
  const end = close ?? endByIndentation(text, start) ?? text.length;
  if (close === undefined) {
    const message = 'expected """ to close this text, found the end of the file';
    report('unterminated-string', { start, end }, message);
  }
  for (let offset = start + 3; offset < end; ) {
    offset = skip(PLAIN_LINES, text, offset);
    const isEscape = text.charAt(offset) === '\\' && offset < end;
    offset += isEscape ? scanEscape(text, offset, report) : 1;
  }
  return { end, closed: close !== undefined };
}

/** The offset after the next three quotes that are not escaped. */
function findClose(text: string, start: number): number | undefined {
  for (let offset = start; offset < text.length; ) {
    offset = skip(PLAIN_LINES, text, offset);
    if (text.startsWith('"""', offset)) return offset + 3;
    if (text.startsWith('\\"""', offset)) offset += 4;
    else offset += text.charAt(offset) === '\\' ? 2 : 1;
  }
  return undefined;
}

/** The probable end of a text without closing quotes: before a line that is indented as little as the text's first. */
function endByIndentation(text: string, start: number): number | undefined {
  const lineStart = text.lastIndexOf('\n', start) + 1;
  const { length } = leadingSpace(text.slice(lineStart, start));
  if (length === 0) return undefined;
  for (let at = text.indexOf('\n', start); at !== -1; at = text.indexOf('\n', at + 1)) {
    const line = /[^\n]*/y;
    line.lastIndex = at + 1;
    const [next = ''] = line.exec(text) ?? [];
    if (next.trim() !== '' && leadingSpace(next).length <= length) return at;
  }
  return undefined;
}

/** The offset after a pattern, or the same offset if it does not match. */
function skip(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

/** The length of the escape at an offset. For an invalid one, the length to skip. */
function scanEscape(text: string, offset: number, report: Report): number {
  ESCAPE.lastIndex = offset;
  NO_ESCAPE.lastIndex = offset;
  const [known, digits] = ESCAPE.exec(text) ?? [];
  if (known !== undefined && (digits === undefined || isCharacter(parseInt(digits, 16))))
    return known.length;
  const found = known ?? NO_ESCAPE.exec(text)?.[0] ?? '\\';
  const end =
    known === undefined ? 'expected \\" \\\\ \\n \\t \\{ or \\u{…}' : 'there is no such character';
  report(
    'invalid-escape',
    { start: offset, end: offset + found.length },
    () => `invalid escape ${quote(found)}, ${end}`,
  );
  return found.length;
}

/** Whether a code point is a storable character: in Unicode, not U+0000, and not a surrogate. */
function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
}

/** The content between a string's quotes. */
export type Content = {
  /** Offsets in the source. */
  start: number;
  end: number;
  /** The indentation of a `"""` text's closing line, which is removed from each line. */
  indentation: string;
};

export function contentOf({ kind, text, start, end, broken }: Token): Content {
  if (kind !== 'triple') return { start: start + 1, end: end - 1, indentation: '' };
  if (broken) return { start: start + 3, end, indentation: '' };
  const inner = text.slice(3, -3);
  const firstBreak = /^[ \t]*\n/.exec(inner)?.[0] ?? '';
  const lastBreak = inner.lastIndexOf('\n');
  const indentation = lastBreak === -1 ? '' : leadingSpace(inner.slice(lastBreak + 1));
  return { start: start + 3 + firstBreak.length, end: end - 3, indentation };
}

function leadingSpace(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Removes the indentation that a line shares. */
export function unindent(line: string, indentation: string): string {
  let shared = 0;
  while (shared < indentation.length && line[shared] === indentation[shared]) shared += 1;
  return line.slice(shared);
}

/** Decodes a part of a string's content: removes indentation and replaces escapes. */
export function decode(source: string, start: number, end: number, indentation = ''): string {
  const raw = source.slice(start, end);
  if (!/[\\\n]/.test(raw) && source[start - 1] !== '\n') return raw;
  const lines = raw.split('\n').map((line, index) => {
    const isWhole = index > 0 || source[start - 1] === '\n';
    return isWhole ? unindent(line, indentation) : line;
  });
  return lines.join('\n').replace(/\\(?:u\{([0-9A-Fa-f]+)\}|([\s\S]))/g, replaceEscape);
}

function replaceEscape(_escape: string, digits: string | undefined, character: string): string {
  if (digits !== undefined) {
    const code = parseInt(digits, 16);
    return isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD';
  }
  return character === 'n' ? '\n' : character === 't' ? '\t' : character;
}

/** Decodes a whole string. */
export function stringValue(token: Token): string {
  const { start, end, indentation } = contentOf(token);
  return decode(token.text, start - token.start, end - token.start, indentation);
}
