import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { toStorable } from '../text.ts';
import type { AnswerBudget, ToolCall } from './model.ts';

type CallPiece = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Tool calls of one answer. */
const MAX_CALLS = 128;
/** Characters kept of a call's arguments. Parts are appended whole, so a tool still sees that the limit is exceeded. */
const MAX_ARGUMENTS = 64 * 1024;
/** Characters kept of a call's name: twice what any server accepts. */
const MAX_NAME = 128;
/** Characters of a call id. Some servers put a signature of several KiB into the id. */
const MAX_ID = 16 * 1024;

/**
 * Limits for all answers of one run together. Characters count text and tool calls: about a million tokens. Bytes and
 * chunks count everything that arrives, including data without text or tool calls.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHUNKS = 500_000;

/** An answer that exceeds a limit. The message names the limit and quotes nothing. */
export class TooLong extends Error {
  override readonly name = 'TooLong';

  constructor(message = "The model's answer is too long.") {
    super(message);
  }
}

export function createAnswerBudget(): AnswerBudget {
  let bytes = 0;
  let chunks = 0;
  let characters = 0;
  return {
    receive(count) {
      bytes += count;
      if (bytes > MAX_BYTES) throw new TooLong();
    },
    take(chunkCount, characterCount) {
      chunks += chunkCount;
      characters += characterCount;
      if (chunks > MAX_CHUNKS || characters > MAX_CHARACTERS) throw new TooLong();
    },
  };
}

/** The text of a chunk, or an empty string. */
export function textOf(chunk: ChatCompletionChunk): string {
  return textOrNone(chunk.choices?.[0]?.delta?.content) ?? '';
}

/** The parts of tool calls in a chunk. */
export function callPiecesOf(chunk: ChatCompletionChunk): CallPiece[] {
  const pieces = chunk.choices?.[0]?.delta?.tool_calls;
  return Array.isArray(pieces) ? pieces : [];
}

/** The value if it is a string. Servers may send anything. */
export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Assembles tool calls that arrive in interleaved parts.
 *
 * @throws TooLong for the 129th call, for an id over 16 Ki characters, and for an exceeded budget.
 */
export function collectCalls(budget: AnswerBudget) {
  const calls = new Map<unknown, ToolCall>();
  const callAt = (index: unknown) => {
    const known = calls.get(index);
    if (known) return known;
    if (calls.size === MAX_CALLS) {
      throw new TooLong(`The model's answer has more than ${MAX_CALLS} tool calls.`);
    }
    const call = { id: `call_${calls.size}`, name: '', arguments: '' };
    calls.set(index, call);
    return call;
  };
  return {
    add(pieces: CallPiece[]) {
      for (const piece of pieces) {
        const id = textOrNone(piece.id);
        const name = textOrNone(piece.function?.name) ?? '';
        const text = textOrNone(piece.function?.arguments) ?? '';
        const call = callAt(piece.index);
        budget.take(1, name.length + text.length);
        if (id && id !== call.id) {
          if (id.length > MAX_ID) throw new TooLong();
          budget.take(0, id.length);
          call.id = id;
        }
        if (call.name.length <= MAX_NAME) call.name += name.slice(0, MAX_NAME);
        if (call.arguments.length <= MAX_ARGUMENTS) call.arguments += text;
      }
    },
    all: () =>
      [...calls.values()].map((call) => ({
        id: toStorable(call.id),
        name: toStorable(call.name),
        arguments: toStorable(call.arguments),
      })),
  };
}

/** Joins surrogate pairs that are split between pieces of text. A first half is held until the next piece or the end. */
export function joinSurrogates() {
  let held = '';
  return {
    add(piece: string): string {
      const text = held + piece;
      held = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
      return toStorable(text.slice(0, text.length - held.length));
    },
    end: () => toStorable(held),
  };
}
