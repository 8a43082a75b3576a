/**
 * Text that PostgreSQL cannot hold, and UTF-8 cannot carry: U+0000 and halves of surrogate pairs.
 * A request with such text is refused; in what a model says it is replaced.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** The same text with U+FFFD in place of what cannot be stored. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** A name of GraphQL's, as REST writes it. The types of `toLowerCase` itself forget which names there are. */
export function toLowerCase<Name extends string>(name: Name): Lowercase<Name> {
  return name.toLowerCase() as Lowercase<Name>;
}

/** A name of REST's, as GraphQL writes it. */
export function toUpperCase<Name extends string>(name: Name): Uppercase<Name> {
  return name.toUpperCase() as Uppercase<Name>;
}
