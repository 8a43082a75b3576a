import { BOUNDS } from './bounds.ts';

/** A reference to a value in a text: `{{ path ?? "default" }}`. */
export type TemplateReference = {
  /** The names of the path, root first: `['context', 'customer', 'plan']`. */
  path: string[];
  /** Used if there is no value. */
  default?: string;
};

/** A text with references to values: literal parts and references, in order. Plain JSON. */
export type Template = (string | TemplateReference)[];

/** Returns the value of a path. `undefined` and `null` both mean no value. */
export type Lookup = (path: readonly string[]) => unknown;

export type RenderedText = {
  text: string;
  /** Dotted paths that had neither a value nor a default, without repeats. They are rendered as empty text. */
  missing: string[];
};

/** The most UTF-16 code units of a rendered text. */
const MAX_TEXT_LENGTH = 1_048_576;

/** A rendered text would be too long, or has too many templates. The message starts with a verb, to follow a subject. */
export class TextLimitError extends Error {
  override readonly name = 'TextLimitError';
}

/**
 * Renders a template. Objects and lists are written as JSON, other values as plain text.
 *
 * @throws TextLimitError if the text would exceed `maxLength` characters.
 */
export function renderTemplate(
  template: Template,
  lookup: Lookup,
  maxLength = MAX_TEXT_LENGTH,
): RenderedText {
  return render(template, lookup, maxLength, (value) => value);
}

/** A URL without a host. Parsers would take the next part for the host. */
const NO_HOST = /^https?:\/\/(?:[/?#]|$)/i;

/**
 * Renders a URL. Values are percent-encoded, so that no value can leave its part of the URL. The values `.` and `..`
 * would change the path and cannot be encoded, so they count as missing. If the host is missing, the text is empty.
 *
 * @throws TextLimitError if the URL would exceed 16,384 characters.
 */
export function renderUrl(template: Template, lookup: Lookup): RenderedText {
  const { text, missing } = render(template, lookup, BOUNDS.urlLength, (value) =>
    value === '.' || value === '..' ? undefined : encodeURIComponent(value.toWellFormed()),
  );
  return { text: NO_HOST.test(text) ? '' : text, missing };
}

function render(
  template: Template,
  lookup: Lookup,
  maxLength: number,
  encode: (value: string) => string | undefined,
): RenderedText {
  const missing = new Set<string>();
  /** The text of each value by path, converted once. */
  const values = new Map<string, string | undefined>();
  const texts: string[] = [];
  let left = maxLength;
  let references = 0;

  function textOf(path: readonly string[], name: string): string | undefined {
    if (!values.has(name)) values.set(name, toText(lookup(path)));
    return values.get(name);
  }

  function spend({ length }: string): void {
    left -= length;
    if (left >= 0) return;
    throw new TextLimitError(`is longer than ${maxLength} characters with its values in place`);
  }

  function place({ path, default: fallback }: TemplateReference): string {
    references += 1;
    if (references > BOUNDS.references)
      throw new TextLimitError(`has more than ${BOUNDS.references} templates`);
    const name = path.join('.');
    const value = textOf(path, name) ?? fallback;
    // Encoding never shortens a text, so the check can come first.
    if (value !== undefined && value.length > left) spend(value);
    const text = value === undefined ? undefined : encode(value);
    if (text === undefined) missing.add(name);
    return text ?? '';
  }

  for (const part of template) {
    const text = typeof part === 'string' ? part : place(part);
    spend(text);
    texts.push(text);
  }
  return { text: texts.join(''), missing: [...missing] };
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Looks paths up in a nested plain object. It ignores inherited properties. */
export function lookupIn(values: Readonly<Record<string, unknown>>): Lookup {
  return (path) => {
    let value: unknown = values;
    for (const name of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
        return undefined;
      value = Reflect.get(value, name);
    }
    return value;
  };
}

/** The paths of the values of a run that templates use: the paths of `env` and `input` are not values of a run. */
export function pathsIn(templates: readonly Template[]): string[][] {
  const paths = templates
    .flat()
    .flatMap((part) => (typeof part === 'string' ? [] : [part.path]))
    .filter(([root]) => root !== 'env' && root !== 'input');
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()];
}

/** The values at some paths, in the form of the whole. */
export function valuesAt(
  values: Readonly<Record<string, unknown>>,
  paths: readonly (readonly string[])[],
): Record<string, unknown> {
  const lookup = lookupIn(values);
  const found: Record<string, unknown> = {};
  for (const path of paths) {
    const value = lookup(path);
    const last = path.at(-1);
    if (value === undefined || last === undefined) continue;
    let place = found;
    for (const name of path.slice(0, -1)) {
      const inner = Object.hasOwn(place, name) ? place[name] : undefined;
      const next = typeof inner === 'object' && inner !== null ? { ...inner } : {};
      Object.defineProperty(place, name, { value: next, ...PLAIN });
      place = next as Record<string, unknown>;
    }
    Object.defineProperty(place, last, { value, ...PLAIN });
  }
  return found;
}

/** The attributes of an ordinary property. An assignment to `__proto__` would not define one. */
const PLAIN = { configurable: true, enumerable: true, writable: true };
