import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { toStorable } from '../text.ts';
import { EgressError } from './error.ts';

export type EgressResponse = {
  status: number;
  /** Empty where the server says none. */
  contentType: string;
  /** The first 64 KiB of the body, read as UTF-8, with U+FFFD for what is none or cannot be stored. */
  text: string;
  /** Whether there was more. */
  truncated: boolean;
};

const MAX_BODY_BYTES = 64 * 1024;

/** Statuses without a body, of which a `Response` must have none: the Fetch standard, "null body status". */
const NO_BODY = [204, 205, 304];

/** The value of a header; its first where it comes more than once. */
export function firstOf(header: string | string[] | undefined): string | undefined {
  return [header].flat()[0];
}

/** Ends the connection of a body that nobody reads. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

/** The answer as the platform's `fetch` has it. @throws EgressError for a status or headers that it cannot have. */
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
    // Nobody else ends its connection.
    discard(body);
    throw new EgressError('broken-answer', { cause });
  }
}

/** The body as the platform's `fetch` has it: read as it is pulled, and ended with whoever reads it. */
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

/** Reads an answer to its end, or to 64 KiB of it. @throws EgressError `broken-answer` */
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
      if (size > MAX_BODY_BYTES) break;
    }
  } catch (cause) {
    throw new EgressError('broken-answer', { cause });
  }
  const truncated = size > MAX_BODY_BYTES;
  const bytes = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES);
  // A character that the cut goes through is left out.
  const text = new TextDecoder().decode(bytes, { stream: truncated });
  return {
    status,
    contentType: firstOf(headers['content-type']) ?? '',
    text: toStorable(text),
    truncated,
  };
}
