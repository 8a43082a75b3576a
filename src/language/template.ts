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

/** Places values into a text. Objects and lists are placed as JSON, all else as people write it. */
export function renderTemplate(template: Template, lookup: Lookup): RenderedText {
  return render(template, lookup, (value) => value);
}

/** A URL whose host is missing: what follows would be taken for the host. */
const NO_HOST = /^https?:\/\/(?:[/?#]|$)/i;

/**
 * Places values into a URL, percent-encoded, so that none can end the part of the URL that it stands in. The
 * values `.` and `..`, which would change the path and cannot be encoded, count as missing. Where the host is
 * missing, the text is empty.
 */
export function renderUrl(template: Template, lookup: Lookup): RenderedText {
  const { text, missing } = render(template, lookup, (value) =>
    value === '.' || value === '..' ? undefined : encodeURIComponent(value.toWellFormed()),
  );
  return { text: NO_HOST.test(text) ? '' : text, missing };
}

function render(
  template: Template,
  lookup: Lookup,
  encode: (value: string) => string | undefined,
): RenderedText {
  const missing = new Set<string>();
  const texts = template.map((part) => {
    if (typeof part === 'string') return part;
    const value = toText(lookup(part.path)) ?? part.default;
    const text = value === undefined ? undefined : encode(value);
    if (text === undefined) missing.add(part.path.join('.'));
    return text ?? '';
  });
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
