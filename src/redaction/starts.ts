/** The source positions of the latest units of a decoded text, in a ring buffer that grows on demand. */
export type Starts = {
  /** @param depth how many of the latest units, including this one, must be kept. */
  set(index: number, start: number, depth: number): void;
  get(index: number): number;
};

const FIRST_SIZE = 64;

export function createStarts(): Starts {
  let values: Int32Array | undefined;
  const grow = (old: Int32Array, index: number) => {
    const values = new Int32Array(old.length * 2);
    for (let at = Math.max(0, index - old.length); at < index; at += 1)
      values[at & (values.length - 1)] = old[at & (old.length - 1)] ?? 0;
    return values;
  };
  return {
    set(index, start, depth) {
      values ??= new Int32Array(FIRST_SIZE);
      if (depth > values.length) values = grow(values, index);
      values[index & (values.length - 1)] = start;
    },
    get: (index) => values?.[index & (values.length - 1)] ?? 0,
  };
}
