import { asHeaderValue } from '../../../server/rest-request.ts';

/** Quotes an argument for a POSIX shell. Within single quotes, only the single quote is special. */
export function inShell(text: string): string {
  if (/^[\w:/.,@%+=-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A string literal of JavaScript and of Python, which have the escapes of JSON. */
export function inCode(text: string): string {
  return JSON.stringify(text);
}

export function inJavaScript(value: unknown): string {
  // As a plain member, `__proto__` would set the prototype.
  return JSON.stringify(value, null, 2).replaceAll(/^( *)"__proto__": /gm, '$1["__proto__"]: ');
}

export function inPython(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map(inPython)
    : Object.entries(value).map(([name, member]) => `${inCode(name)}: ${inPython(member)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  return `${open}\n    ${indented(members.join(',\n'), 4)},\n${close}`;
}

/** Indents all lines but the first. */
export function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}

export function isLatin(text: string): boolean {
  return asHeaderValue(text) === text;
}
