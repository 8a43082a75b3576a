import { type BlockName, findHomes, wordsOf } from './grammar.ts';
import { explain, meaningOf } from './meanings.ts';
import { hint } from './suggest.ts';

/** A keyword that the block does not define, with the suggestion for its author. */
export type UnknownWord = {
  /** The word of the block that it means, if any. */
  readonly meant: string | undefined;
  /** Whether only its meaning leads to that word, so that its arguments may have another form. */
  readonly isForeign: boolean;
  /** The end of the message about it. */
  explain(): string;
};

/** @param guess finds the word of the block with the nearest spelling. */
export function readUnknownWord(
  text: string,
  block: BlockName,
  guess: (word: string, words: readonly string[]) => string | undefined,
): UnknownWord {
  const meaning = meaningOf(block, text);
  if (meaning) {
    const meant = 'word' in meaning ? meaning.word : undefined;
    return { meant, isForeign: true, explain: () => explain(meaning) };
  }
  const homes = findHomes(text);
  if (homes.length > 0) {
    const end = `, it belongs in ${homes.join(' or ')}`;
    return { meant: undefined, isForeign: false, explain: () => end };
  }
  const words = wordsOf(block);
  return { meant: guess(text, words), isForeign: false, explain: () => hint(text, words) };
}
