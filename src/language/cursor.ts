import type { Report } from './diagnostic.ts';
import { describe, type Token, type TokenKind } from './token.ts';

export type Cursor = ReturnType<typeof createCursor>;

/** A place in the tokens, and the ways to move it. It never passes the last token, which is of kind `end`. */
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

  /** Past a block with all that is in it, however deep. Tells whether it ends. */
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
   * Past what cannot be read, to where a member may begin or the block end: the next word that begins a line or
   * that the block knows, or a brace.
   */
  function skipToMember(isKnown: (word: string) => boolean): void {
    while (!at('{') && !at('}') && !at('end')) {
      const isWord = at('name') || at('other');
      const goesOn = previous.kind === ',' || previous.kind === '|';
      if (isWord && ((current.startsLine && !goesOn) || isKnown(current.text))) return;
      next();
    }
  }

  return {
    peek: () => current,
    /** The token that was passed last. */
    previous: () => previous,
    next,
    at,
    atWord,
    skipBlock,
    skipToMember,
  };
}

/**
 * "expected X after Y, found Z"; where the line or the file ends instead, right after its last token. A string
 * without its closing quotes is reported already, and so is what is missing after it.
 */
export function reportExpected(what: string, cursor: Cursor, report: Report): void {
  const found = cursor.peek();
  const previous = cursor.previous();
  if (previous.broken) return;
  const isMissing = found.startsLine || found.kind === 'end';
  report('syntax', isMissing ? previous.end : found.start, () => {
    const after = previous.kind === 'string' ? 'the string' : describe(previous);
    const place = found.kind === 'end' ? describe(found) : 'the end of the line';
    return `expected ${what} after ${after}, found ${isMissing ? place : describe(found)}`;
  });
}
