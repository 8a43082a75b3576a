import type { Report } from './diagnostic.ts';
import { positionAt, type Source } from './source.ts';
import { describe, quote, type Token } from './token.ts';

export type Braces = ReturnType<typeof createBraces>;

/**
 * Locates missing and superfluous braces. It counts all braces first. Only if the counts differ, it treats a word of an
 * outer block, or a line that is indented less than its block, as a sign of a missing brace. Each located brace corrects
 * the count.
 *
 * @param isCutOff whether text without closing quotes takes the rest of the file.
 */
export function createBraces(
  source: Source,
  tokens: readonly Token[],
  report: Report,
  isCutOff: boolean,
) {
  /** Opening braces minus closing braces, corrected for each reported mistake. */
  let open = tokens.reduce((sum, { kind }) => sum + (kind === '{' ? 1 : kind === '}' ? -1 : 0), 0);
  const isIndented = hasIndentation();
  let isSettled = isCutOff;

  function columnOf({ start }: Token): number {
    return positionAt(source, start).column;
  }

  /** Whether the source is indented: the first block's first line is indented more than the line that opens it. */
  function hasIndentation(): boolean {
    const brace = tokens.find(({ kind }) => kind === '{');
    const opener = tokens.findLast(
      ({ startsLine, index }) => startsLine && index < (brace?.index ?? 0),
    );
    const first = brace && tokens[brace.index + 1];
    return opener !== undefined && first?.startsLine === true && columnOf(first) > columnOf(opener);
  }

  function offsetFrom(owner: Token, token: Token): number | undefined {
    const showsIndentation = isIndented && token.startsLine && owner.startsLine;
    return showsIndentation ? columnOf(token) - columnOf(owner) : undefined;
  }

  return {
    isIndented,
    /** Whether a closing brace is missing. */
    isUnclosed: () => open > 0,
    /** Whether an opening brace is missing. */
    isUnopened: () => open < 0,

    /** The column of a token relative to its block's owner; undefined if indentation gives no information. */
    offsetFrom,

    /** Whether a word or brace is indented so little that an unclosed block must end before it. */
    isOutdented(owner: Token, token: Token): boolean {
      const offset = offsetFrom(owner, token);
      if (offset === undefined || token.kind === '{') return false;
      return token.kind === '}' ? offset < 0 : offset <= 0;
    },

    /** Reports a block without its closing brace. At the end of the file, only the first mistake is reported. */
    reportUnclosed(owner: Token, found: Token): void {
      if (found.kind === 'end' && isSettled) return;
      open -= 1;
      isSettled = true;
      report('unclosed-block', found, () => {
        const { line } = positionAt(source, owner.start);
        const block = `the block of ${quote(owner.text)} in line ${line}`;
        return `expected "}" to close ${block}, found ${describe(found)}`;
      });
    },

    /** Records a missing opening brace. The caller reports it. */
    noteUnopened(): void {
      open += 1;
      isSettled = true;
    },

    /** Records that a reported mistake may explain an unexpected end of the file. */
    settle(): void {
      isSettled = true;
    },

    /** Records a superfluous opening brace. The caller reports it. */
    noteExtra(): void {
      open -= 1;
      isSettled = true;
    },

    /** Reports a superfluous closing brace. */
    reportStray(brace: Token): void {
      if (open < 0 || !isSettled)
        report('stray-brace', brace, 'unexpected "}", no block is open for it');
      open += 1;
      isSettled = true;
    },
  };
}
