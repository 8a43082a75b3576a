import { createParser } from 'eventsource-parser';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';

/** In characters; more than any server sends in one. */
const MAX_EVENT = 4 * 1024 * 1024;

/** What a server says in its stream of itself: that it has failed. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * Hears a streamed answer of chat completions out, to its `[DONE]` or its end. The client's own reading hands each
 * chunk through six generators, which costs more than all else that a word of a reply needs.
 *
 * @throws StreamedError where the server says so; an error where the answer breaks off or is no such stream.
 */
export async function hearChunks(
  { body }: Pick<Response, 'body'>,
  hear: (chunk: ChatCompletionChunk) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let isDone = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent({ event, data }) {
      isDone ||= data === '[DONE]';
      if (isDone) return;
      const chunk = JSON.parse(data);
      if (event === 'error' || chunk?.error) throw new StreamedError();
      hear(chunk);
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  for await (const bytes of body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (isDone) return;
  }
}
