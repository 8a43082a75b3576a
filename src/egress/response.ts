import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { toStorable } from '../text/characters.ts';
import { EgressError } from './error.ts';

export type EgressResponse = {
  status: number;
  /** Empty if the server sent none. */
  contentType: string;
  /** The first 64 KiB of the body as UTF-8. U+FFFD replaces invalid bytes and characters that cannot be stored. */
  text: string;
  /** Whether the body was longer. */
  truncated: boolean;
};

const MAX_KEPT_BYTES = 64 * 1024;

/** Statuses for which a `Response` must have no body: the Fetch standard, "null body status". */
const NO_BODY = [204, 205, 304];

/** The first value of a header. */
export function firstOf(header: string | string[] | undefined): string | undefined {
  return [header].flat()[0];
}

/** Closes the connection of an unread body. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

/** Converts to a Fetch `Response`. @throws EgressError for a status or headers that `Response` does not allow. */
export function toResponse({
  statusCode: status,
  headers,
  body,
}: Dispatcher.ResponseData): Response {
  const isEmpty = NO_BODY.includes(status);
  if (isEmpty) discard(body);
  try {
    return new Response(isEmpty ? null : streamOf(body), {
      status,
      headers: Object.entries(headers).flatMap(([name, value = []]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
    });
  } catch (cause) {
    // The body has no other reader that would close its connection.
    discard(body);
    throw new EgressError('broken-answer', { cause });
  }
}

/** Converts a body to a web stream with backpressure. Cancelling the stream closes the connection. */
function streamOf(body: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => discard(body),
  });
}

/** Reads at most 64 KiB of a response. @throws EgressError `broken-answer` */
export async function readResponse(response: Dispatcher.ResponseData): Promise<EgressResponse> {
  const { statusCode: status, headers } = response;
  if (!/^(identity)?$/i.test(firstOf(headers['content-encoding']) ?? '')) {
    discard(response.body);
    throw new EgressError('broken-answer');
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_KEPT_BYTES) break;
    }
  } catch (cause) {
    throw new EgressError('broken-answer', { cause });
  }
  const truncated = size > MAX_KEPT_BYTES;
  const bytes = Buffer.concat(chunks).subarray(0, MAX_KEPT_BYTES);
  // `stream` drops a character that the truncation splits.
  const text = new TextDecoder().decode(bytes, { stream: truncated });
  return {
    status,
    contentType: firstOf(headers['content-type']) ?? '',
    text: toStorable(text),
    truncated,
  };
}
