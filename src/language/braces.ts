import type { Report } from './diagnostic.ts';
import { positionAt, type Source } from './source.ts';
import { describe, quote, type Token } from './token.ts';

export type Braces = ReturnType<typeof createBraces>;

/**
 * Finds the place of a missing or superfluous brace. The braces of a source are counted first: only where they do
 * not match is a word of an outer block, or a line that stands further left than its block, taken for a sign that
 * a brace was forgotten. Each brace found so is taken off the count.
 */
export function createBraces(source: Source, tokens: readonly Token[], report: Report) {
  /** How many blocks are opened and not closed; below zero, closed and not opened. */
  let open = tokens.reduce((sum, { kind }) => sum + (kind === '{' ? 1 : kind === '}' ? -1 : 0), 0);
  const isIndented = hasIndentation();
  let isSettled = tokens.some(({ kind, broken }) => kind === 'triple' && broken);

  function columnOf({ start }: Token): number {
    return positionAt(source, start).column;
  }

  /** Whether the author indents: the first block's first line stands further right than what opens it. */
  function hasIndentation(): boolean {
    const brace = tokens.find(({ kind }) => kind === '{');
    const opener = tokens.findLast(
      ({ startsLine, index }) => startsLine && index < (brace?.index ?? 0),
    );
    const first = brace && tokens[brace.index + 1];
    return opener !== undefined && first?.startsLine === true && columnOf(first) > columnOf(opener);
  }

  function offsetFrom(owner: Token, token: Token): number | undefined {
    const tells = isIndented && token.startsLine && owner.startsLine;
    return tells ? columnOf(token) - columnOf(owner) : undefined;
  }

  return {
    isIndented,
    /** Whether some block is not closed. */
    isUnclosed: () => open > 0,
    /** Whether some closing brace has no opening one. */
    isUnopened: () => open < 0,

    /** How far a token stands right of a block's owner; nothing where the lines do not tell. */
    offsetFrom,

    /** Of an unclosed block: whether a word or brace stands so far left that the block must have ended before it. */
    isOutdented(owner: Token, token: Token): boolean {
      const offset = offsetFrom(owner, token);
      if (offset === undefined || token.kind === '{') return false;
      return token.kind === '}' ? offset < 0 : offset <= 0;
    },

    /** A block that ends without its brace. At the end of the file only the first mistake counts. */
    reportUnclosed(owner: Token, found: Token): void {
      if (found.kind === 'end' && isSettled) return;
      open -= 1;
      isSettled = true;
      report('unclosed-block', found.start, () => {
        const { line } = positionAt(source, owner.start);
        const block = `the block of ${quote(owner.text)} in line ${line}`;
        return `expected "}" to close ${block}, found ${describe(found)}`;
      });
    },

    /** A block that begins without its brace; the caller says so. */
    noteUnopened(): void {
      open += 1;
      isSettled = true;
    },

    /** A mistake was reported that may be the cause of a wrong end of the file. */
    settle(): void {
      isSettled = true;
    },

    /** An opening brace that is one too many; the caller says so. */
    noteExtra(): void {
      open -= 1;
      isSettled = true;
    },

    /** A closing brace that is one too many. */
    reportStray(brace: Token): void {
      if (open < 0 || !isSettled)
        report('stray-brace', brace.start, 'unexpected "}", no block is open for it');
      open += 1;
      isSettled = true;
    },
  };
}
