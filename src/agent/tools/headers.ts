import type { HttpHeader } from '../../language/definition.ts';
import {
  type Lookup,
  type RenderedText,
  renderTemplate,
  TextLimitError,
} from '../../language/template.ts';
import { ToolError } from './tool.ts';

/** A header whose template is rendered. */
export type RenderedHeader = RenderedText & { name: string };

/** Characters that a header value must not contain: RFC 9110, section 5.5. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** Characters of all header values of a request. */
const MAX_HEADERS_LENGTH = 65_536;

/** @throws ToolError if all header values together are too long. */
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

/** Renders a part of a request. @throws ToolError with `messageOf` if the part is too long. */
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

/** Whether a text is a valid HTTP header value. */
export function isHeaderValue(text: string): boolean {
  return !NOT_IN_HEADERS.test(text);
}

/** Returns the headers by lower-case name. @throws ToolError for an invalid header value. */
export function headersOf(headers: RenderedHeader[]): Record<string, string> {
  return Object.fromEntries(
    headers.map(({ name, text }) => {
      if (isHeaderValue(text)) return [name.toLowerCase(), text];
      throw new ToolError(
        `The value of the header "${name}" must be a single line of Latin-1 characters.`,
        {
          type: 'invalid_request',
        },
      );
    }),
  );
}
