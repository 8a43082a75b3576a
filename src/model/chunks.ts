import { createParser } from 'eventsource-parser';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { normalizeLineEnds } from './line-ends.ts';
import type { AnswerBudget } from './model.ts';
import { TooLong } from './pieces.ts';

/** In characters; more than any server sends in one. */
const MAX_EVENT = 1024 * 1024;

/** A server's own report, in its stream, that it has failed. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * Reads a streamed answer of chat completions to its `[DONE]` or its end. The client's own reading passes each
 * chunk through six generators, which costs more than all else that a word of a reply needs.
 *
 * @param budget counts the bytes and chunks as they arrive, whatever is in them.
 * @throws TooLong for an event over 1 MiB, and where the budget ends; StreamedError where the server reports one; an
 *   error where the answer breaks off or is no such stream.
 */
export async function readChunks(
  { body }: Pick<Response, 'body'>,
  budget: AnswerBudget,
  onChunk: (chunk: ChatCompletionChunk) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const normalize = normalizeLineEnds();
  let isDone = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent({ event, data }) {
      isDone ||= data === '[DONE]';
      if (isDone) return;
      if (data.length > MAX_EVENT) throw new TooLong();
      budget.take(1, 0);
      const chunk = JSON.parse(data);
      if (event === 'error' || chunk?.error) throw new StreamedError();
      onChunk(chunk);
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new TooLong();
      // An unknown field is legal, but reporting it costs the parser as much as several chunks.
      budget.take(8, 0);
    },
  });
  for await (const bytes of body ?? []) {
    budget.receive(bytes.length);
    parser.feed(normalize(decoder.decode(bytes, { stream: true })));
    if (isDone) return;
  }
}
