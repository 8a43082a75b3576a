import { isJsonObject } from '../text/json.ts';
import { parseOrNone } from './wire.ts';

/**
 * Reads the arguments of a tool call as the text of a JSON object. No text, blank text and `null` are the empty object. A
 * JSON string that holds a JSON object is that object.
 *
 * @returns `undefined` for anything else.
 */
export function readArguments(text: string): string | undefined {
  if (text.trim() === '') return '{}';
  const value = parseOrNone(text);
  if (isJsonObject(value)) return text;
  if (value === null) return '{}';
  if (typeof value !== 'string') return undefined;
  const inner = value.trim();
  if (inner === '' || inner === 'null') return '{}';
  return isJsonObject(parseOrNone(inner)) ? inner : undefined;
}

const BACKSLASH = 92;
const QUOTE = 34;
const isOpening = (code: number) => code === 123 || code === 91;
const isClosing = (code: number) => code === 125 || code === 93;
const isBlank = (code: number) => code === 32 || (code >= 9 && code <= 13);

/** Follows a JSON text that arrives in pieces. It reads each character once. */
export function followJson() {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isClosed = false;
  const step = (code: number) => {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) {
        isInString = false;
        isClosed = depth === 0;
      }
    } else if (!isBlank(code)) {
      isInString = code === QUOTE;
      if (isOpening(code)) depth += 1;
      if (isClosing(code)) depth -= 1;
      isClosed = isClosing(code) && depth === 0;
    }
  };
  return {
    push(piece: string) {
      for (let at = 0; at < piece.length; at += 1) step(piece.charCodeAt(at));
    },
    /** Whether the text so far is an object, a list or a string that is closed, with nothing behind it. */
    isComplete: () => isClosed,
  };
}
