/** The values that were typed for variables, and the variables to remove. */
export type VariableDraft = {
  values: Readonly<Record<string, string>>;
  removed: readonly string[];
};

export const NO_VARIABLES: VariableDraft = { values: {}, removed: [] };

export type VariableField = {
  name: string;
  /** Whether the deployment that runs has a value for it. */
  isRunning: boolean;
  state: 'added' | 'changed' | 'carried over' | 'unset' | 'unused' | 'removed';
};

/**
 * The variables to show beside a definition, and the effect of a deploy on each.
 *
 * @param used names that the definition refers to.
 * @param running names of the variables of the deployment that runs.
 */
export function variableFields(
  used: readonly string[],
  running: readonly string[],
  draft: VariableDraft,
): VariableField[] {
  const names = [...new Set([...used, ...running])].sort();
  return names.map((name) => {
    const isRunning = running.includes(name);
    return { name, isRunning, state: stateOf(name, isRunning, used.includes(name), draft) };
  });
}

function stateOf(
  name: string,
  isRunning: boolean,
  isUsed: boolean,
  { values, removed }: VariableDraft,
): VariableField['state'] {
  if (isRunning && removed.includes(name)) return 'removed';
  if (values[name]) return isRunning ? 'changed' : 'added';
  if (!isRunning) return 'unset';
  return isUsed ? 'carried over' : 'unused';
}

/** The variables that a deploy sets and removes, by name. */
export function changesIn(fields: VariableField[]): { set: string[]; unset: string[] } {
  const namesOf = (...states: VariableField['state'][]) =>
    fields.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  return { set: namesOf('added', 'changed'), unset: namesOf('removed') };
}
