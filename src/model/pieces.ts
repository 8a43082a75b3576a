import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { toStorable } from '../text.ts';
import type { AnswerBudget, ToolCall } from './model.ts';

type CallPiece = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Tool calls in one answer, at most. */
const MAX_CALLS = 128;
/** Characters of a call's arguments that are kept: enough for a tool to see that there are more than it takes. */
const MAX_ARGUMENTS = 64 * 1024;
/** Characters of a call's name that are kept: twice what any server accepts. */
const MAX_NAME = 128;
/** Characters of a call's id, at most: some servers hold a signature of several KiB in it. */
const MAX_ID = 16 * 1024;

/**
 * What all answers of one run hold together, at most. Characters: text and tool calls, about a million tokens, which is
 * more than any model's context. Bytes and chunks: what arrives, so also what holds neither.
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

/** The text of a chunk; empty where it has none. */
export function textOf(chunk: ChatCompletionChunk): string {
  return textOrNone(chunk.choices?.[0]?.delta?.content) ?? '';
}

/** The parts of tool calls in a chunk. */
export function callPiecesOf(chunk: ChatCompletionChunk): CallPiece[] {
  const pieces = chunk.choices?.[0]?.delta?.tool_calls;
  return Array.isArray(pieces) ? pieces : [];
}

/** A text as a server should send it; nothing where it sends anything else. */
export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Joins tool calls that arrive in parts, several at a time.
 *
 * @throws TooLong for the 129th call, before it is kept, for an id over 16 KiB, and where the budget ends.
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

/** Makes each piece of text whole: the first half of a pair waits for its second, to the end at most. */
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
