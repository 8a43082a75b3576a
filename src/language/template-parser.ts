import type { Report } from './diagnostic.ts';
import type { Source, SourceRange } from './source.ts';
import { contentOf, decode } from './strings.ts';
import type { Template } from './template.ts';
import { quote, type Token } from './token.ts';

/** A path in a template, with its range in the source. */
export type Reference = SourceRange & { readonly path: readonly string[] };

export type ParsedTemplate = {
  template: Template;
  /** The references of the template, in order. */
  references: Reference[];
  /** Whether a mistake was reported. Some references are then missing. */
  damaged: boolean;
};

/** An escape, or the opening braces of a template. */
const ESCAPE_OR_OPEN = /\\[\s\S]|\{\{/g;
const OPEN_OR_CLOSE = /\{\{|\}\}/g;
const SPACE = /\s*/y;
const PATH = /[A-Za-z_]\w*(?:\.\w+)*/y;
const DEFAULT_SIGN = /\?\?/y;
/** In plain quotes, or in escaped quotes inside a one-line string. */
const DEFAULT = /"((?:[^"\\\n]|\\[^\n])*)"|\\"((?:[^"\\\n]|\\[^"\n])*)\\"/y;
const CLOSE = /\}\}/y;
const FOUND = /\w+|\}\}|\S/uy;

/**
 * Parses the templates of a string before it is decoded, so that mistakes have their exact position in the source. It
 * reports only the first mistake of each template.
 */
export function parseTemplate(source: Source, token: Token, report: Report): ParsedTemplate {
  const { start, end, indentation } = contentOf(token);
  const content = source.text.slice(start, end);
  const template: Template = [];
  const references: Reference[] = [];
  let damaged = false;
  let offset = 0;

  function match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = offset;
    const found = pattern.exec(content) ?? undefined;
    if (found) offset = pattern.lastIndex;
    return found;
  }

  function fail(what: string): undefined {
    damaged = true;
    const place = offset;
    const [found] = match(FOUND) ?? [];
    const end = start + place + (found?.length ?? 0);
    report('invalid-template', { start: start + place, end }, () => {
      const description = found === undefined ? 'the end of the string' : quote(found);
      return `expected ${what}, found ${description}`;
    });
    const [next] = match(OPEN_OR_CLOSE) ?? [];
    if (next === undefined) offset = content.length;
    if (next === '{{') offset -= next.length;
  }

  /** template = "{{" path [ "??" STRING ] "}}" ; path = NAME { "." ( NAME | INT ) } ; */
  function parseReference(): undefined {
    match(SPACE);
    const place = start + offset;
    const path = match(PATH)?.[0].split('.');
    if (!path) return fail('a path such as context.name');
    const pathEnd = start + offset;
    match(SPACE);
    const hasDefault = match(DEFAULT_SIGN) !== undefined;
    if (hasDefault) match(SPACE);
    const [, plain, escaped] = (hasDefault && match(DEFAULT)) || [];
    const value = plain ?? escaped;
    if (hasDefault && value === undefined) return fail('a default in double quotes');
    match(SPACE);
    if (!match(CLOSE)) return fail(hasDefault ? '"}}"' : '"??" or "}}"');
    references.push({ path, start: place, end: pathEnd });
    template.push(
      value === undefined ? { path } : { path, default: decode(value, 0, value.length) },
    );
  }

  /** Parses text up to the next template. @returns whether there is one. */
  function parseText(): boolean {
    const from = offset;
    let found = match(ESCAPE_OR_OPEN);
    while (found && found[0] !== '{{') found = match(ESCAPE_OR_OPEN);
    const to = found ? offset - found[0].length : content.length;
    if (to > from) template.push(decode(source.text, start + from, start + to, indentation));
    return found !== undefined;
  }

  while (parseText()) parseReference();
  return { template, references, damaged };
}
