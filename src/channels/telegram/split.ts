import { lexer, type Token } from 'marked';

/** The most characters of a message, in UTF-16 code units. Source: Telegram's Bot API, `sendMessage`. */
export const MAX_LENGTH = 4_096;

/**
 * Splits Markdown into texts of at most `limit` UTF-16 code units, each valid by itself: between paragraphs, else
 * between lines, else between words. A code block that is split is closed and opened again.
 */
export function splitMarkdown(markdown: string, limit = MAX_LENGTH): string[] {
  const parts: string[] = [];
  let current = '';
  const close = () => {
    if (current.trim() !== '') parts.push(current.trim());
    current = '';
  };
  for (const piece of lexer(markdown).flatMap((token) => piecesOf(token, limit))) {
    if (current.length + piece.length > limit) close();
    current += piece;
  }
  close();
  return parts;
}

/** The source of a block, in pieces of at most `limit`. */
function piecesOf(token: Token, limit: number): string[] {
  const { raw } = token;
  if (raw.length <= limit) return [raw];
  if (token.type !== 'code' || token.codeBlockStyle === 'indented') return wrap(raw, limit);
  const fence = /^ {0,3}(`{3,}|~{3,})[^\n]*/.exec(raw);
  // The language is repeated with every piece, so a long one is dropped.
  const open = `${(fence?.[0] ?? '```').slice(0, 80)}\n`;
  const end = `\n${fence?.[1] ?? '```'}\n`;
  return wrap(String(token.text), limit - open.length - end.length - 1).map(
    (text) => open + text.replace(/\n$/, '') + end,
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
