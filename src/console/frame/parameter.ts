/** Reads the name of one of several values, in lower case as REST has it. */
export function readName<Name extends string>(
  text: string,
  all: Record<Name, unknown>,
): { name: Name } | { fault: string } {
  const isName = (name: string): name is Name => Object.hasOwn(all, name);
  const name = text.toUpperCase();
  return isName(name) ? { name } : { fault: `“${cut(text)}” is not one of ${namesOf(all)}.` };
}

/** The names of values in a sentence. */
export function namesOf(all: object): string {
  return Object.keys(all).join(', ').toLowerCase();
}

function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
