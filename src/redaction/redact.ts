import { createPatterns, type Patterns } from './patterns.ts';
import { createScanner } from './scanner.ts';

/**
 * Replaces the values of variables in text, for values of 8 characters or more. It recognizes values that are plain,
 * percent-encoded, form-encoded, escaped as in JSON, written as HTML entities, in base64, base64url or hexadecimal, and
 * one of these encodings within another. The time is linear in the text. Values that are changed in other ways, such as
 * reversed, are not recognized.
 */
export type Redactor = {
  /** Replaces each value by `[env.NAME]`. Overlapping values become one replacement with the longest value's name. */
  redact(text: string): string;
  /** Redacts a text that arrives in pieces. A value may span several pieces. */
  stream(): RedactingStream;
  /** Memory, in bytes. */
  size: number;
};

export type RedactingStream = {
  /** @returns the text that can no longer be part of a value. */
  push(piece: string): string;
  /** @returns the rest. The stream can then be reused for another text. */
  end(): string;
};

/** A range of the text that contains a value. */
type Span = {
  start: number;
  end: number;
  /** The longest value in the range, and its start. */
  pattern: number;
  patternStart: number;
};

export function createRedactor(variables: Readonly<Record<string, string>>): Redactor {
  const patterns = createPatterns(variables);
  if (!patterns) {
    const unchanged = (text: string) => text;
    return { redact: unchanged, stream: () => ({ push: unchanged, end: () => '' }), size: 0 };
  }
  const shortest = Math.min(...patterns.lengths);
  return {
    redact(text) {
      if (text.length < shortest) return text;
      const stream = createStream(patterns);
      return stream.push(text) + stream.end();
    },
    stream() {
      let stream = createStream(patterns);
      return {
        push: (piece) => stream.push(piece),
        end() {
          const rest = stream.end();
          stream = createStream(patterns);
          return rest;
        },
      };
    },
    size: patterns.matcher.size,
  };
}

function createStream(patterns: Patterns): RedactingStream {
  /** Values found but not yet replaced: in order, without overlaps. */
  const spans: Span[] = [];
  /** The withheld text, and its offset in the whole text. */
  let held = '';
  let heldAt = 0;

  const scanner = createScanner(patterns, (start, end, pattern) =>
    addSpan(spans, { start, end, pattern, patternStart: start }, patterns.lengths),
  );

  /** Removes and returns the withheld text up to an offset. */
  const take = (end: number) => {
    const length = Math.max(0, end - heldAt);
    const text = held.slice(0, length);
    held = held.slice(length);
    heldAt += length;
    return text;
  };

  /** Releases the withheld text up to an offset, with values replaced. */
  const release = (safe: number) => {
    let text = '';
    let released = 0;
    for (let span = spans[0]; span && span.start < safe; span = spans[released]) {
      text += take(span.start);
      // Drop the value's text now, even if its span may still grow.
      take(span.end);
      if (span.end > safe) break;
      text += `[env.${patterns.names[span.pattern]}]`;
      released += 1;
    }
    if (released > 0) spans.splice(0, released);
    return text + take(safe);
  };

  return {
    push(piece) {
      held += piece;
      scanner.push(piece);
      return release(scanner.liveStart());
    },
    end() {
      scanner.flush();
      return release(Infinity);
    },
  };
}

/**
 * Inserts a span by its start. Merges it with each span that it overlaps: the merged span has the name of the longest
 * value. Reads the list only from its end, because the scanner reports values nearly in the order of their ends.
 */
function addSpan(spans: Span[], found: Span, lengths: readonly number[]): void {
  const later: Span[] = [];
  let span = found;
  for (let last = spans.at(-1); last && last.end > span.start; last = spans.at(-1)) {
    spans.pop();
    if (last.start >= span.end) later.push(last);
    else span = merged(last, span, lengths);
  }
  spans.push(span, ...later.reverse());
}

function merged(one: Span, other: Span, lengths: readonly number[]): Span {
  const longer =
    (lengths[other.pattern] ?? 0) - (lengths[one.pattern] ?? 0) ||
    one.patternStart - other.patternStart;
  const { pattern, patternStart } = longer > 0 ? other : one;
  const start = Math.min(one.start, other.start);
  return { start, end: Math.max(one.end, other.end), pattern, patternStart };
}
