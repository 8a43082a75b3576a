import type { Token, Tokens } from 'marked';
import { MAX_DEPTH, readBlocks } from '../../text/markdown.ts';

/** The most characters of a message, in UTF-16 code units. Source: Telegram's Bot API, `sendMessage`. */
export const MAX_LENGTH = 4_096;

/**
 * Splits Markdown into texts of at most `limit` UTF-16 code units, each valid by itself: between paragraphs, else
 * between lines, else between words. A code block that is split is closed and opened again, also in lists and quotes.
 */
export function splitMarkdown(markdown: string, limit = MAX_LENGTH): string[] {
  const parts: string[] = [];
  let current = '';
  const close = () => {
    if (current.trim() !== '') parts.push(current.trim());
    current = '';
  };
  for (const piece of piecesOfBlocks(markdown, { limit, depth: 0, quote: '' })) {
    if (current.length + piece.length > limit) close();
    current += piece;
  }
  close();
  return parts;
}

/** A longer fence is cut as text. */
const MAX_FENCE = 40;

/** The place of a block in lists and quotes. */
type Place = {
  limit: number;
  depth: number;
  /** The marks of the quotes around the block, which stand before each line. */
  quote: string;
};

/** The source of a block, in pieces of at most `limit`. */
function piecesOf(token: Token, place: Place): string[] {
  const { limit, depth, quote } = place;
  const raw = quoted(token.raw, quote);
  if (raw.length <= limit) return [raw];
  if (token.type === 'code' && token.codeBlockStyle !== 'indented')
    return piecesOfCode(token as Tokens.Code, place);
  if (depth < MAX_DEPTH && token.type === 'list')
    return (token as Tokens.List).items.flatMap((item) => piecesOfItem(item, place));
  if (depth < MAX_DEPTH && token.type === 'blockquote') {
    const inside = { limit, depth: depth + 1, quote: `${quote}> ` };
    return [...piecesOfBlocks(token.text, inside), '\n'];
  }
  return wrapQuoted(raw, limit, quote);
}

function piecesOfBlocks(markdown: string, place: Place): string[] {
  return readBlocks(markdown).flatMap((token) => piecesOf(token, place));
}

function piecesOfCode({ raw, text }: Tokens.Code, { limit, quote }: Place): string[] {
  const [first = '```', marks = '```'] = /^ {0,3}(`{3,}|~{3,})[^\n]*/.exec(raw) ?? [];
  if (marks.length > MAX_FENCE) return wrapQuoted(quoted(raw, quote), limit, quote);
  // The language is repeated with every piece, so a long one is dropped.
  const open = `${quote}${first.slice(0, 80)}\n`;
  const end = `\n${quote}${marks}\n`;
  return wrapQuoted(quoted(text, quote), limit - open.length - end.length - 1, quote).map(
    (part) => open + part.replace(/\n$/, '') + end,
  );
}

/** The mark of a list item, with its box. */
const MARK = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}\[[ xX]\])?(?:[ \t]|(?=\n)|$)/;

/** An item that is too long is no item any more: its mark stays before its first paragraph, its other blocks follow. */
function piecesOfItem({ raw, text }: Tokens.ListItem, { limit, depth, quote }: Place): string[] {
  const whole = quoted(raw.endsWith('\n') ? raw : `${raw}\n`, quote);
  if (whole.length <= limit) return [whole];
  const [mark = ''] = MARK.exec(raw) ?? [];
  const inside = { limit: limit - mark.length, depth: depth + 1, quote };
  const tokens = readBlocks(text);
  const pieces = tokens.flatMap((token) => piecesOf(token, inside));
  const first = tokens[0]?.type === 'paragraph' ? (pieces.shift() ?? '') : `${quote}\n\n`;
  return [quote + mark + first.slice(quote.length), ...pieces, '\n\n'];
}

/** A text with the marks of quotes before each line. */
function quoted(text: string, quote: string): string {
  return quote === '' ? text : text.replaceAll(/[^\n]*\n|[^\n]+$/g, (line) => quote + line);
}

/** As `wrap`, with the marks of quotes before each piece. */
function wrapQuoted(text: string, limit: number, quote: string): string[] {
  return wrap(text, limit - quote.length).map((piece) =>
    piece.startsWith(quote) ? piece : quote + piece,
  );
}

/** Cuts a text after the last line break, else after the last space, that fits. */
export function wrap(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > limit) {
    const head = rest.slice(0, limit);
    const line = head.lastIndexOf('\n') + 1;
    const at = line > 0 ? line : head.lastIndexOf(' ') + 1;
    const cut = at > 0 ? at : wholeCharacters(head);
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}

/** The length of a text without a trailing half of a surrogate pair. */
function wholeCharacters(text: string): number {
  return /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
}
