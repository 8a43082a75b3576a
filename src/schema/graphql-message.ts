/** Characters kept from each end of a message. The middle of a longer message is a quoted value. */
const END = 1_000;

/**
 * Redacts the values that a GraphQL request error quotes: they may be secret, such as a deployment's environment
 * variable. The names of variables, fields, arguments and types stay.
 *
 * @param whole a message of any length.
 * @returns at most 2,001 characters.
 */
export function withoutValues(whole: string): string {
  const message =
    whole.length > 2 * END ? `${whole.slice(0, END)}…${whole.slice(-END)}`.toWellFormed() : whole;
  const [, name] = /^Variable "\$(\w+)" got invalid value/.exec(message) ?? [];
  if (name === undefined) {
    return message
      .replace(/^(.*? cannot represent [^:]*value): .*$/s, '$1.')
      .replace(/(an invalid [\w-]+-string) .*$/s, '$1.')
      .replace(/(found (?:String|BlockString)) ".*$/s, '$1.')
      .replace(/(Expected value of type ".*?"), found .*$/s, '$1.');
  }
  const place = new RegExp(` at "${name}[\\w.[\\]]*"(?=; )`).exec(message)?.[0] ?? '';
  const reason = REASONS.map((pattern) => pattern.exec(message)?.[0]).find(Boolean);
  return `Variable "$${name}" got an invalid value${place}${reason ? `; ${reason}` : '.'}`;
}

/** The parts of a variable's error message that quote no value. */
const REASONS = [
  /Field "\w+" of required type "[\w!\][]+" was not provided\.$/,
  /Field "\w+" is not defined by type "\w+"\.(?: Did you mean [\w", ]+\?)?$/,
  /Expected non-nullable type "[\w!\][]+" not to be null\.$/,
  /Expected type "\w+" to be an object\.$/,
  /\w+ cannot represent [\w -]+ value(?=: )/,
];
