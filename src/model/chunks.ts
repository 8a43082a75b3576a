import { createParser } from 'eventsource-parser';
import { ownTurn } from '../async/own-turn.ts';
import { isJsonObject } from '../text/json.ts';
import { IncompleteAnswer } from './failure.ts';
import type { ModelResponse } from './fetch.ts';
import { normalizeLineEnds } from './line-ends.ts';
import type { AnswerBudget } from './model.ts';
import { TooLong } from './pieces.ts';
import { parseOrNone } from './wire.ts';

/** Characters of one event, of one line of JSON, or of a JSON document: it may hold an image in base64. */
const MAX_EVENT = 4 * 1024 * 1024;

/** Bytes of a piece that is read in its own turn of the event loop: it may have 10,000 events. */
const LARGE_PIECE = 8 * 1024;

/** The media types of newline-delimited JSON, of which none is registered. */
const JSON_LINES = /^[a-z]+\/(x-)?(ndjson|jsonl|jsonlines)$/i;

type OnChunk = (chunk: unknown) => void;

/** Reads the text of a body in one of its formats. */
type Reader = {
  /** @returns whether the answer is complete. */
  push(text: string): boolean;
  /** Reads what is left at the end of the body. @returns whether the answer is complete. */
  end(): boolean;
};

/**
 * Reads the chunks of an answer up to `[DONE]` or its end: from an event stream, from lines of JSON if the content type
 * says so, or from one JSON document, which servers that do not stream send. The `openai` client's own reader passes
 * each chunk through six generators, which costs more than all other work per chunk.
 *
 * @param budget counts all bytes and chunks as they arrive.
 * @param onChunk receives JSON values of any type. An `error` event becomes an object with the member `error`.
 * @returns whether the server said that the answer is complete.
 * @throws TooLong for an event over 4 Mi characters or an exceeded budget; any other error for a broken connection or
 *   invalid data.
 */
export async function readChunks(
  response: Pick<ModelResponse, 'body' | 'headers'>,
  budget: AnswerBudget,
  onChunk: OnChunk,
): Promise<boolean> {
  const decoder = new TextDecoder();
  let reader: Reader | undefined;
  for await (const bytes of response.body ?? []) {
    budget.receive(bytes.length);
    if (bytes.length > LARGE_PIECE) await ownTurn();
    let text = decoder.decode(bytes, { stream: true });
    if (!reader) {
      text = text.trimStart();
      if (text === '') continue;
      reader = readerOf(text, response)(budget, onChunk);
    }
    if (reader.push(text)) return true;
  }
  return reader?.end() ?? false;
}

/** The format of a body, by its first character. Only JSON needs the headers, which are parsed when they are read. */
function readerOf(text: string, response: Pick<ModelResponse, 'headers'>) {
  if (!/^[[{]/.test(text)) return readEvents;
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  return JSON_LINES.test(type.trim()) ? readLines : readDocument;
}

function readEvents(budget: AnswerBudget, onChunk: OnChunk): Reader {
  const normalize = normalizeLineEnds();
  const { stackTraceLimit } = Error;
  let isDone = false;
  const onReported = (data: string) => onChunk({ error: parseOrNone(data) ?? data });
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent({ event, data }) {
      isDone ||= data === '[DONE]';
      if (isDone || data === '') return;
      if (data.length > MAX_EVENT) throw new TooLong();
      budget.take(1, 0);
      Error.stackTraceLimit = stackTraceLimit;
      if (event === 'error') onReported(data);
      else onChunk(JSON.parse(data));
      Error.stackTraceLimit = 0;
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new TooLong();
      // llama.cpp writes `error:` in place of `data:`.
      if (error.field === 'error' && error.value) onReported(error.value);
      // An unknown field is valid, but costs the parser as much as several chunks.
      budget.take(8, 0);
    },
  });
  /** The parser makes an error of every unknown field. Stack traces of 10,000 such lines would take 0.2 s. */
  const feed = (text: string) => {
    Error.stackTraceLimit = 0;
    try {
      parser.feed(text);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  return {
    push(text) {
      feed(normalize(text));
      return isDone;
    },
    end() {
      // The last event may lack its blank line. One that the connection cut is no JSON.
      if (!isDone) ended(() => feed(`${normalize('\n')}\n\n`));
      return isDone;
    },
  };
}

function readLines(budget: AnswerBudget, onChunk: OnChunk): Reader {
  const pieces = collectPieces();
  let isDone = false;
  const read = (line: string) => {
    if (isDone || line.trim() === '') return;
    isDone = line.trim() === '[DONE]';
    if (isDone) return;
    budget.take(1, 0);
    onChunk(JSON.parse(line));
  };
  return {
    push(text) {
      const lines = text.split('\n');
      for (const [at, line] of lines.entries()) {
        pieces.add(line);
        if (at < lines.length - 1) read(pieces.take());
      }
      return isDone;
    },
    end() {
      ended(() => read(pieces.take()));
      return isDone;
    },
  };
}

/** A list is read as its items. A document without choices describes an error. */
function readDocument(budget: AnswerBudget, onChunk: OnChunk): Reader {
  const pieces = collectPieces();
  return {
    push(text) {
      pieces.add(text);
      return false;
    },
    end() {
      const text = pieces.take();
      return ended(() => {
        const chunks: unknown[] = [JSON.parse(text)].flat();
        for (const chunk of chunks) {
          budget.take(1, 0);
          const isAnswer = isJsonObject(chunk) && ('choices' in chunk || 'error' in chunk);
          onChunk(isAnswer ? chunk : { error: chunk });
        }
      });
    },
  };
}

/** Joins pieces once, because to append each piece to a long text may take quadratic time. */
function collectPieces() {
  let pieces: string[] = [];
  let length = 0;
  return {
    add(piece: string) {
      length += piece.length;
      if (length > MAX_EVENT) throw new TooLong();
      if (piece !== '') pieces.push(piece);
    },
    take(): string {
      const text = pieces.join('');
      pieces = [];
      length = 0;
      return text;
    },
  };
}

/** Reads the rest of a body. @throws IncompleteAnswer if it is no JSON. */
function ended(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    throw error instanceof SyntaxError ? new IncompleteAnswer() : error;
  }
}
