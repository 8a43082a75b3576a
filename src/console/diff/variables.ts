/** The effect of a deploy on the variables of an environment, by their names. */
export type VariableChanges = {
  /** They get a value for the first time. */
  added: string[];
  /** They get a value with the deploy, perhaps the one that they have. */
  changed: string[];
  removed: string[];
  /** They keep their value. */
  kept: string[];
};

/**
 * The changes from one deployment to another.
 *
 * @param sent names of the variables whose values came with the later one.
 */
export function changesBetween(
  before: readonly string[],
  after: readonly string[],
  sent: readonly string[],
): VariableChanges {
  const [had, has, got] = [new Set(before), new Set(after), new Set(sent)];
  const stay = [...has].filter((name) => had.has(name)).sort();
  return {
    added: [...has].filter((name) => !had.has(name)).sort(),
    changed: stay.filter((name) => got.has(name)),
    removed: [...had].filter((name) => !has.has(name)).sort(),
    kept: stay.filter((name) => !got.has(name)),
  };
}
