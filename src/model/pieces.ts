import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { toStorable } from '../text.ts';
import type { ToolCall } from './model.ts';

type CallPiece = ChatCompletionChunk.Choice.Delta.ToolCall;

/**
 * In characters: what one call of a model may say, its text and the calls of tools as JSON has them together. It is
 * held in memory until the run is over, and many times what any model says.
 */
const MAX_SAID = 16 * 1024 * 1024;
/** What each piece of text counts beside its characters, as an event that is held of its own. */
const PIECE = 32;

/** A model that says more than it may. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

/** Counts what a call of a model says. @throws TooLong once that is more than it may say. */
export function limitPieces() {
  let said = 0;
  return (text: string, calls: CallPiece[]) => {
    if (text) said += text.length + PIECE;
    if (calls.length > 0) said += JSON.stringify(calls).length;
    if (said > MAX_SAID) throw new TooLong();
  };
}

/** Puts the calls together that come in pieces, several at a time. */
export function collectCalls() {
  const calls = new Map<number, ToolCall>();
  return {
    add(pieces: CallPiece[]) {
      for (const { index, id, function: piece } of pieces) {
        const call = calls.get(index) ?? { id: `call_${index}`, name: '', arguments: '' };
        call.id = id || call.id;
        call.name += piece?.name ?? '';
        call.arguments += piece?.arguments ?? '';
        calls.set(index, call);
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
