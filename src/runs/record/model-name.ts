/** Characters of a model's name that a run stores and shows. */
export const MAX_MODEL_NAME = 256;

/** The beginning of a model's name. A definition may name any text as its model. */
export function readModelName(name: string): string {
  return name.slice(0, MAX_MODEL_NAME).toWellFormed();
}
