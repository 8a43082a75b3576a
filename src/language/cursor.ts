import type { Report } from './diagnostic.ts';
import type { Rule } from './grammar.ts';
import { describe, type Token, type TokenKind } from './token.ts';

export type Cursor = ReturnType<typeof createCursor>;

/** A position in the tokens. It never moves past the last token, which is of kind `end`. */
export function createCursor(tokens: readonly Token[]) {
  const [first] = tokens;
  const last = tokens.at(-1);
  if (!first || !last) throw new Error('There is always a last token.');
  let current = first;
  let previous = first;

  function next(): Token {
    previous = current;
    current = tokens[current.index + 1] ?? last ?? current;
    return previous;
  }

  const at = (kind: TokenKind): boolean => current.kind === kind;
  const atWord = (word: string): boolean => current.kind === 'name' && current.text === word;

  /** Skips a block with nested blocks. @returns whether the block is closed. */
  function skipBlock(): boolean {
    let depth = 0;
    do {
      if (at('{')) depth += 1;
      if (at('}')) depth -= 1;
      next();
    } while (depth > 0 && !at('end'));
    return depth === 0;
  }

  /**
   * Error recovery: skips to the next possible start of a member or end of the block. That is a word that starts a line,
   * a word that the block knows, or a brace.
   */
  function skipToMember(isKnown: (word: string) => boolean): void {
    while (!at('{') && !at('}') && !at('end')) {
      const isWord = at('name') || at('other');
      const goesOn = previous.kind === ',' || previous.kind === '|';
      if (isWord && ((current.startsLine && !goesOn) || isKnown(current.text))) return;
      next();
    }
  }

  const following = (): Token => tokens[current.index + 1] ?? last;

  /** Whether the token after the next one begins what follows a word by its rule: an argument, a block, or another member. */
  function mayFollow({ shapes: [shape], block }: Rule): boolean {
    const { kind, startsLine } = following();
    const endsMember = startsLine || kind === '}' || kind === 'end';
    switch (shape) {
      case undefined:
        return block ? kind === '{' : endsMember;
      case 'string?':
        return kind === 'string' || kind === '{' || endsMember;
      case 'string':
      case 'strings':
        return kind === 'string';
      case 'text':
        return kind === 'string' || kind === 'triple';
      case 'address':
      case 'chats':
      case 'tools':
      case 'approved':
        return kind === 'string' || kind === 'name';
      default:
        return kind === 'name' || kind === 'integer' || kind === shape;
    }
  }

  return {
    mayFollow,
    peek: () => current,
    following,
    previous: () => previous,
    next,
    at,
    atWord,
    skipBlock,
    skipToMember,
  };
}

/**
 * Reports "expected X after Y, found Z". If the line or the file ends instead, the position is the end of its last token.
 * After a string without closing quotes it reports nothing, because that mistake is already reported.
 */
export function reportExpected(what: string, cursor: Cursor, report: Report): void {
  const found = cursor.peek();
  const previous = cursor.previous();
  if (previous.broken) return;
  const isMissing = found.startsLine || found.kind === 'end';
  report('syntax', isMissing ? { start: previous.end, end: previous.end } : found, () => {
    const after = previous.kind === 'string' ? 'the string' : describe(previous);
    const place = found.kind === 'end' ? describe(found) : 'the end of the line';
    return `expected ${what} after ${after}, found ${isMissing ? place : describe(found)}`;
  });
}
