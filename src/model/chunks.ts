import { createParser } from 'eventsource-parser';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { ModelResponse } from './fetch.ts';
import { normalizeLineEnds } from './line-ends.ts';
import type { AnswerBudget } from './model.ts';
import { TooLong } from './pieces.ts';

/** Characters of one event; no known server sends more. */
const MAX_EVENT = 1024 * 1024;

/** An error that the server reports in its stream. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * Reads a stream of chat completion chunks up to `[DONE]` or its end. The `openai` client's own reader passes each chunk
 * through six generators, which costs more than all other work per chunk.
 *
 * @param budget counts all bytes and chunks as they arrive.
 * @throws TooLong for an event over 1 Mi characters or an exceeded budget; StreamedError for an error in the stream; any
 *   other error for a broken connection or invalid data.
 */
export async function readChunks(
  { body }: Pick<ModelResponse, 'body'>,
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
      // An unknown field is valid, but costs the parser as much as several chunks.
      budget.take(8, 0);
    },
  });
  for await (const bytes of body ?? []) {
    budget.receive(bytes.length);
    parser.feed(normalize(decoder.decode(bytes, { stream: true })));
    if (isDone) return;
  }
}
