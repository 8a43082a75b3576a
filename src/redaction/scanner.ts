import { createDecoder } from './decoder.ts';
import { BASE64, createEncodedBytes, HEXADECIMAL } from './encoded-bytes.ts';
import { BACKSLASH, ENTITY, PERCENT, PLUS } from './escapes.ts';
import { createLayer, type Found } from './layer.ts';
import type { Patterns } from './patterns.ts';

/** Searches a text that arrives in pieces for patterns, plain and in the common encodings. */
export type Scanner = {
  push(piece: string): void;
  /** The start of the earliest incomplete match, or the end of the text read. */
  liveStart(): number;
  /** Processes withheld incomplete escapes as plain text. */
  flush(): void;
};

/** The kinds of escapes of each encoding, and of each encoding within one of them, such as JSON in a query string. */
const OUTER = [PERCENT, PERCENT | PLUS, BACKSLASH, ENTITY];
const INNER = [PERCENT, BACKSLASH, ENTITY];

/**
 * The time is linear in the text. The layers of encodings only cost time near their escapes.
 */
export function createScanner(patterns: Patterns, found: Found): Scanner {
  const {
    matcher: { next, depth, match },
    lengths,
  } = patterns;
  const hexadecimal = createEncodedBytes(HEXADECIMAL, patterns, found);
  const base64 = createEncodedBytes(BASE64, patterns, found);
  const createInner = () => INNER.map((kinds) => createLayer(patterns, kinds, undefined, found));
  const decoder = createDecoder(
    patterns,
    { get: (index) => index },
    () => OUTER.map((kinds) => createLayer(patterns, kinds, createInner, found)),
    base64.push,
  );
  let position = 0;
  let state = 0;

  return {
    push(piece) {
      for (let at = 0; at < piece.length; at += 1) {
        const code = piece.charCodeAt(at);
        const before = state;
        state = next(before, code);
        const pattern = match[state] ?? -1;
        const end = position + 1;
        if (pattern >= 0) found(end - (lengths[pattern] ?? 0), end, pattern);
        hexadecimal.push(code, position, end);
        decoder.push(code, position, end, before, position);
        position = end;
      }
    },
    liveStart: () =>
      Math.min(
        position - (depth[state] ?? 0),
        decoder.liveStart() ?? Infinity,
        hexadecimal.liveStart() ?? Infinity,
        base64.liveStart() ?? Infinity,
      ),
    flush: decoder.flush,
  };
}
