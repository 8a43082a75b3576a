import type { Report } from './diagnostic.ts';
import type { Source } from './source.ts';
import { contentOf, decode } from './strings.ts';
import type { Template } from './template.ts';
import { quote, type Token } from './token.ts';

/** A path in a template, with its place in the source. */
export type Reference = { readonly path: readonly string[]; readonly offset: number };

export type ParsedTemplate = {
  template: Template;
  /** Those of the template, in order. */
  references: Reference[];
  /** Whether a mistake was reported: then some references are not there. */
  damaged: boolean;
};

/** An escape, which begins no template, or the beginning of one. */
const ESCAPE_OR_OPEN = /\\[\s\S]|\{\{/g;
const OPEN_OR_CLOSE = /\{\{|\}\}/g;
const SPACE = /\s*/y;
const PATH = /[A-Za-z_]\w*(?:\.\w+)*/y;
const DEFAULT_SIGN = /\?\?/y;
/** In plain quotes, or in escaped ones as a string on one line may have them. */
const DEFAULT = /"((?:[^"\\\n]|\\[^\n])*)"|\\"((?:[^"\\\n]|\\[^"\n])*)\\"/y;
const CLOSE = /\}\}/y;
const FOUND = /\w+|\}\}|\S/uy;

/**
 * Reads the templates of a string in place, so that every mistake is reported where it stands in the source,
 * whatever escapes and indentation come before it. Of one template only the first mistake is reported.
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
    report('invalid-template', start + place, () => {
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
    match(SPACE);
    const hasDefault = match(DEFAULT_SIGN) !== undefined;
    if (hasDefault) match(SPACE);
    const [, plain, escaped] = (hasDefault && match(DEFAULT)) || [];
    const value = plain ?? escaped;
    if (hasDefault && value === undefined) return fail('a default in double quotes');
    match(SPACE);
    if (!match(CLOSE)) return fail(hasDefault ? '"}}"' : '"??" or "}}"');
    references.push({ path, offset: place });
    template.push(
      value === undefined ? { path } : { path, default: decode(value, 0, value.length) },
    );
  }

  /** Text up to the next template, if there is one. */
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
