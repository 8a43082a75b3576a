import type { HttpHeader } from '../../language/definition.ts';
import { type Lookup, type RenderedText, renderTemplate } from '../../language/template.ts';
import { ToolError } from './tool.ts';

/** A header with its values in place. */
export type RenderedHeader = RenderedText & { name: string };

/** What a header's value may not hold: RFC 9110, section 5.5. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

export function renderHeaders(headers: HttpHeader[], lookup: Lookup): RenderedHeader[] {
  return headers.map(({ name, value }) => ({ name, ...renderTemplate(value, lookup) }));
}

/** Whether HTTP can carry a text as a header's value. */
export function isHeaderValue(text: string): boolean {
  return !NOT_IN_HEADERS.test(text);
}

/** The headers by their names in small letters. @throws ToolError for a value that HTTP cannot carry. */
export function headersOf(headers: RenderedHeader[]): Record<string, string> {
  return Object.fromEntries(
    headers.map(({ name, text }) => {
      if (isHeaderValue(text)) return [name.toLowerCase(), text];
      throw new ToolError(`The value of the header "${name}" must be one line of Latin letters.`, {
        type: 'invalid_request',
      });
    }),
  );
}
