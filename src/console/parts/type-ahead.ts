/** A longer pause in typing begins another text, in milliseconds. */
const PAUSE_MS = 500;

/** Finds items by the letters that are typed one after another. */
export function createTypeAhead() {
  let typed = '';
  let typedAt = Number.NEGATIVE_INFINITY;
  /**
   * @param key the typed letter, of either case.
   * @param names the names of all items.
   * @param at the index of the focused item, -1 without one.
   * @param time when the letter was typed, in milliseconds.
   * @returns the index of the next item whose name begins with the typed text, -1 if there is none. The same letter again
   *   finds the next item that begins with this letter.
   */
  return (key: string, names: string[], at: number, time: number): number => {
    const letter = key.toLowerCase();
    typed = time - typedAt > PAUSE_MS ? letter : typed + letter;
    typedAt = time;
    const isRepeated = [...typed].every((one) => one === letter);
    const text = isRepeated ? letter : typed;
    // A longer text may still begin the name of the focused item.
    const from = isRepeated ? at + 1 : Math.max(at, 0);
    const order = names.map((_, index) => (from + index) % names.length);
    return order.find((index) => names[index]?.toLowerCase().startsWith(text)) ?? -1;
  };
}
