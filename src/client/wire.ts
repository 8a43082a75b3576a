/** Members whose values belong to users, so the client does not rename anything inside. */
const OPAQUE = /^(output|metadata|attributes|arguments)$/;

/** Renames the members of a response from `snake_case` to `camelCase`. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      OPAQUE.test(name) ? member : fromWire(member),
    ]),
  );
}

/** Renames the members of a request, and of the messages of its history, from `camelCase` to `snake_case`. */
export function toWire(input: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === 'history' && Array.isArray(member) ? member.map(toWire) : member,
    ]),
  );
}
