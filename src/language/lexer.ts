import type { Report } from './diagnostic.ts';
import type { Source } from './source.ts';
import { scanString, scanTriple } from './strings.ts';
import type { Comment, Token, TokenKind } from './token.ts';

export type Tokens = {
  /** The last token is of kind `end`. */
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
};

/** A run of characters without white space, punctuators, quotes and comments. */
const RUN = /[^\s{},|.?[\]"#]+/y;
const NUMERIC_RUN = /\d+(?:\.\d+)?[^\s{},|.?[\]"#]*/y;

/** A template outside a string. Its braces do not delimit a block. */
const TEMPLATE =
  /\{\{[ \t]*[A-Za-z_][\w.]*[ \t]*(?:\}\}|\?\?(?:[ \t]*\\?"[^"\n]*")?(?:[ \t]*\}\})?)/y;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const INTEGER = /^\d+$/;
const NUMBER = /^\d+\.\d+$/;
const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/;

/**
 * Splits a source into tokens. It reports only mistakes in strings and comments. An invalid run of characters becomes a
 * token of kind `other`, so that the parser can report the expected token.
 */
export function tokenize({ text }: Source, report: Report): Tokens {
  const tokens: Token[] = [];
  const comments: Comment[] = [];
  let offset = 0;
  let startsLine = true;
  /** Whether each text in three quotes so far is closed. */
  let areTextsClosed = true;

  function push(kind: TokenKind, end: number, broken = false) {
    const index = tokens.length;
    tokens.push({
      kind,
      text: text.slice(offset, end),
      start: offset,
      end,
      index,
      startsLine,
      broken,
    });
    offset = end;
    startsLine = false;
  }

  function pushComment() {
    const lineEnd = text.indexOf('\n', offset);
    const end = lineEnd === -1 ? text.length : lineEnd;
    comments.push({ text: text.slice(offset, end).trimEnd(), start: offset, end, startsLine });
    offset = end;
  }

  function pushForeignComment() {
    report(
      'syntax',
      { start: offset, end: offset + 2 },
      'expected "#" before a comment, found "//"',
    );
    pushComment();
  }

  function pushString() {
    const triple = text.startsWith('"""', offset);
    const { end, closed } = triple
      ? scanTriple(text, offset, report, areTextsClosed)
      : scanString(text, offset, report);
    if (triple && !closed) areTextsClosed = false;
    push(triple ? 'triple' : 'string', end, !closed);
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0];
  }

  function pushBrace() {
    const template = match(TEMPLATE);
    if (template === undefined) push('{', offset + 1);
    else push('other', offset + template.length);
  }

  function pushRun(pattern: RegExp) {
    const run = match(pattern);
    // White space beyond ASCII, such as a no-break space.
    if (run === undefined) offset += 1;
    else push(kindOf(run), offset + run.length);
  }

  while (offset < text.length) {
    const character = text.charAt(offset);
    switch (character) {
      case '\n':
        startsLine = true;
        offset += 1;
        break;
      case ' ':
      case '\t':
        offset += 1;
        break;
      case '{':
        pushBrace();
        break;
      case '}':
      case ',':
      case '|':
      case '.':
      case '?':
      case '[':
      case ']':
        push(character, offset + 1);
        break;
      case '#':
        pushComment();
        break;
      case '"':
        pushString();
        break;
      case '/':
        if (text.charAt(offset + 1) === '/') pushForeignComment();
        else pushRun(RUN);
        break;
      default:
        pushRun(character >= '0' && character <= '9' ? NUMERIC_RUN : RUN);
    }
  }
  push('end', offset);
  return { tokens, comments };
}

function kindOf(run: string): TokenKind {
  if (NAME.test(run)) return 'name';
  if (INTEGER.test(run)) return 'integer';
  if (NUMBER.test(run)) return 'number';
  return DURATION.test(run) ? 'duration' : 'other';
}

/** Characters that no text file contains: control characters and unpaired surrogates. */
const NO_TEXT = /[^\P{Cc}\t\n]+|\p{Cs}+/gu;

/** Reports characters that a text must not contain. @returns the source with spaces in their place. */
export function withoutInvalidCharacters(source: Source, report: Report): Source {
  const runs = source.text.matchAll(NO_TEXT);
  for (const { 0: run, index } of runs) {
    const code = run.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    report(
      'invalid-character',
      { start: index, end: index + run.length },
      `invalid character U+${code}`,
    );
  }
  return { ...source, text: source.text.replaceAll(NO_TEXT, (run) => ' '.repeat(run.length)) };
}
