import { toStorable } from '../text/characters.ts';
import type { AnswerBudget } from './model.ts';

/**
 * Limits for all answers of one run together. Characters count text and tool calls: about a million tokens. Bytes and
 * chunks count everything that arrives, including data without text or tool calls.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHUNKS = 500_000;

/** An answer that exceeds a limit. The message names the limit and quotes nothing. */
export class TooLong extends Error {
  override readonly name = 'TooLong';

  constructor(message = "The model's answer is too long.") {
    super(message);
  }
}

export function createAnswerBudget(): AnswerBudget {
  let bytes = 0;
  let chunks = 0;
  let characters = 0;
  return {
    receive(count) {
      bytes += count;
      if (bytes > MAX_BYTES) throw new TooLong();
    },
    take(chunkCount, characterCount) {
      chunks += chunkCount;
      characters += characterCount;
      if (chunks > MAX_CHUNKS || characters > MAX_CHARACTERS) throw new TooLong();
    },
  };
}

/** Joins surrogate pairs that are split between pieces of text. A first half is held until the next piece or the end. */
export function joinSurrogates() {
  let held = '';
  return {
    add(piece: string): string {
      const text = held + piece;
      held = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
      return toStorable(text.slice(0, text.length - held.length));
    },
    end: () => toStorable(held),
  };
}
