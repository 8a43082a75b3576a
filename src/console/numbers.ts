/** A number as people read it, such as `1,204`. */
export const count = (value: number): string => value.toLocaleString('en');

/** A number of things, such as `1 run` or `1,204 runs`. */
export const quantity = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** The change of a number with its sign, such as `+12 ms`. */
export const signedChange = (
  before: number,
  after: number,
  unit: (value: number) => string,
): string => `${after > before ? '+' : '−'}${unit(Math.abs(after - before))}`;
