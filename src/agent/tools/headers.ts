import type { HttpHeader } from '../../language/definition.ts';
import {
  type Lookup,
  type RenderedText,
  renderTemplate,
  TextLimitError,
} from '../../language/template.ts';
import { ToolError } from './tool.ts';

/** A header with its values in place. */
export type RenderedHeader = RenderedText & { name: string };

/** What a header's value may not hold: RFC 9110, section 5.5. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** The most characters of all values of a request's headers together: 64 KiB. */
const MAX_HEADERS_LENGTH = 65_536;

/** @throws ToolError for headers that are too long together. */
export function renderHeaders(headers: HttpHeader[], lookup: Lookup): RenderedHeader[] {
  let left = MAX_HEADERS_LENGTH;
  return headers.map(({ name, value }) => {
    const rendered = withinLimit(
      () => renderTemplate(value, lookup, left),
      () =>
        `The headers are longer than ${MAX_HEADERS_LENGTH} characters with their values in place.`,
    );
    left -= rendered.text.length;
    return { name, ...rendered };
  });
}

/** Renders a part of a request. @throws ToolError with this message, where the part is too long. */
export function withinLimit(
  render: () => RenderedText,
  messageOf: (error: TextLimitError) => string,
): RenderedText {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof TextLimitError)) throw error;
    throw new ToolError(messageOf(error), { type: 'request_too_large', cause: error });
  }
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
