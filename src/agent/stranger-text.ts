import type { Redactor } from '../deployments/redact.ts';
import { toStorable } from '../text.ts';

/** Characters of a tool name that is not a tool's. */
const MAX_NAME = 64;
/** All but these are escaped; brackets stand around the name of a redacted variable. */
const UNSAFE = /[^A-Za-z0-9_.[\]-]/g;

/**
 * The first `length` characters of a text of a stranger's server, redacted and storable. No value of a variable shows
 * its beginning at the cut.
 */
export function shorten(text: string, length: number, redactor: Redactor): string {
  const safe =
    text.length > length
      ? redactor.stream().push(text.slice(0, length))
      : redactor.redact(text).slice(0, length);
  return toStorable(safe);
}

/** A tool name that a model made up, for clients, traces and the model: redacted, cut at 64 characters, and escaped. */
export function displayName(name: string, redactor: Redactor): string {
  const escaped = shorten(name, MAX_NAME, redactor).replaceAll(
    UNSAFE,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return name.length > MAX_NAME ? `${escaped}...` : escaped;
}
