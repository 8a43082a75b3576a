import { BOUNDS } from './bounds.ts';

/** A value to be placed into a text: `{{ path ?? "default" }}`. */
export type TemplateReference = {
  /** Its names, the root first: `['context', 'customer', 'plan']`. */
  path: string[];
  /** Stands in where there is no value. */
  default?: string;
};

/** A text with values to be placed into it: literal parts and references, in order. Plain JSON. */
export type Template = (string | TemplateReference)[];

/** Finds the value of a path; `undefined` and `null` both mean that there is none. */
export type Lookup = (path: readonly string[]) => unknown;

export type RenderedText = {
  text: string;
  /** Dotted paths of what had neither a value nor a default, and so became empty text; each once. */
  missing: string[];
};

/** The most characters (UTF-16 code units) of a text with its values in place: 1 MiB. */
export const MAX_TEXT_LENGTH = 1_048_576;

/** A text that would be too long with its values in place, or has too many templates. Its message begins with a verb. */
export class TextLimitError extends Error {
  override readonly name = 'TextLimitError';
}

/**
 * Places values into a text. Objects and lists are placed as JSON, all else as people write it.
 *
 * @throws TextLimitError before a text of more than `maxLength` characters is built.
 */
export function renderTemplate(
  template: Template,
  lookup: Lookup,
  maxLength = MAX_TEXT_LENGTH,
): RenderedText {
  return render(template, lookup, maxLength, (value) => value);
}

/** A URL whose host is missing: what follows would be taken for the host. */
const NO_HOST = /^https?:\/\/(?:[/?#]|$)/i;

/**
 * Places values into a URL, percent-encoded, so that none can end the part of the URL that it stands in. The
 * values `.` and `..`, which would change the path and cannot be encoded, count as missing. Where the host is
 * missing, the text is empty.
 *
 * @throws TextLimitError before a URL of more than 16,384 characters is built.
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
  /** The texts of values by their paths: each is made once. */
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
    // Encoding makes no text shorter.
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

/** Looks paths up in a plain object, at any depth. What an object inherits is not found. */
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
