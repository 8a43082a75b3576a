import type { EnvironmentVariables } from './environment.ts';
import { createPatterns, type Patterns } from './redaction/patterns.ts';
import { createScanner } from './redaction/scanner.ts';

/**
 * Replaces the values of variables in text: values of 8 characters or more; plain, percent and form encoded, with the
 * escapes of JSON, as HTML entities, in base64 and base64url, in hexadecimal, and one of these within another. The
 * time is linear in the text. A value that is reversed, spaced out or otherwise changed is not recognized.
 */
export type Redactor = {
  /** The text with `[env.NAME]` in place of each value. Of values that overlap, the longest one's name stays. */
  redact(text: string): string;
  /** The same for a text that arrives in pieces, however it is cut. */
  stream(): RedactingStream;
  /** Memory, in bytes. */
  size: number;
};

export type RedactingStream = {
  /** @returns what no longer can be a part of a value. */
  push(piece: string): string;
  /** @returns the rest. Another text may follow. */
  end(): string;
};

/** A part of the text that shows a value. */
type Span = { start: number; end: number; pattern: number };

export function createRedactor(variables: EnvironmentVariables): Redactor {
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
  /** Found and not yet replaced. */
  let spans: Span[] = [];
  /** What is held back, and where it begins in the whole text. */
  let held = '';
  let heldAt = 0;

  const scanner = createScanner(patterns, (start, end, pattern) => {
    const last = spans.at(-1);
    const continues = last?.pattern === pattern && last.start <= start && start < last.end;
    if (last && continues && last.end <= end) last.end = end;
    else spans.push({ start, end, pattern });
  });

  /** Takes from what is held back all before a place in the text. */
  const take = (end: number) => {
    const length = Math.max(0, end - heldAt);
    const text = held.slice(0, length);
    held = held.slice(length);
    heldAt += length;
    return text;
  };

  /** Lets go of all before a place in the text, with values replaced. */
  const release = (safe: number) => {
    let text = '';
    spans = merge(spans, patterns.lengths);
    for (let span = spans[0]; span && span.start < safe; span = spans[0]) {
      text += take(span.start);
      // Its own text is not needed any more, though it may still grow.
      take(span.end);
      if (span.end > safe) return text;
      text += `[env.${patterns.names[span.pattern]}]`;
      spans.shift();
    }
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

/** Joins spans that overlap, under the name of the longest. @returns them in order. */
function merge(spans: Span[], lengths: readonly number[]): Span[] {
  if (spans.length < 2) return spans;
  const merged: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (!last || last.end <= span.start) {
      merged.push(span);
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if ((lengths[span.pattern] ?? 0) > (lengths[last.pattern] ?? 0)) last.pattern = span.pattern;
  }
  return merged;
}
