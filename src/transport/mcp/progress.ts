/** The text must grow by this part of its length before the next notification. */
const GROWTH = 1 / 16;

/** The text of a reply, as it grows. */
export type Progress = {
  /** Adds a piece. @returns the text so far, if it has grown enough since the last notification. */
  add(delta: string): string | undefined;
  /** The whole text so far. */
  text(): string;
};

/**
 * Decides which pieces of a reply are reported. Each notification has the whole text so far. All of them together have at most 17
 * times the bytes of the reply, because each one is longer than the one before it by at least a sixteenth.
 */
export function createProgress(): Progress {
  let text = '';
  let next = 1;
  return {
    add(delta) {
      text += delta;
      if (text.length < next) return undefined;
      next = Math.ceil(text.length * (1 + GROWTH));
      return text;
    },
    text: () => text,
  };
}
