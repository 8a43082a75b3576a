import { type Chain, createChain, type Found } from './chain.ts';
import { BASE64, createEncodedBytes, HEXADECIMAL } from './encoded-bytes.ts';
import { anyEscape, backslash, type Escape, entity, form, percent } from './escapes.ts';
import type { Patterns } from './patterns.ts';

/** Searches a text that arrives in pieces for patterns, plain and in the common encodings. */
export type Scanner = {
  push(piece: string): void;
  /** The start of the earliest incomplete match, or the end of the text read. */
  liveStart(): number;
  /** Processes withheld incomplete escapes as plain text. */
  flush(): void;
};

/** Single and nested encodings, such as JSON in a query string. */
const CHAINS: readonly (readonly [Escape, Escape?])[] = [percent, form, backslash, entity].flatMap(
  (first) => [
    [first] as const,
    ...[percent, backslash, entity].map((second) => [first, second] as const),
  ],
);

/** By ASCII code: whether an escape may begin. */
const OPENS = new Uint8Array(128);
for (const [{ openers }] of CHAINS) for (const opener of openers) OPENS[opener] = 1;

const PLUS = '+';

/** The time is linear in the text. The constant factor is the number of encodings. */
export function createScanner(patterns: Patterns, found: Found): Scanner {
  const { matcher, lengths } = patterns;
  const { next, depth, match } = matcher;
  const hexadecimal = createEncodedBytes(HEXADECIMAL, patterns, found);
  const base64 = createEncodedBytes(BASE64, patterns, found);
  let chains: Chain[] | undefined;
  let active: Chain[] = [];
  let position = 0;
  let state = 0;
  /** A possible escape, its position, and the matcher's state before it. */
  let attempt = '';
  let attemptAt = 0;
  let attemptState = 0;

  /** Feeds a possible escape to the inactive chains that know its opener. */
  const wake = (text: string, at: number, before: number) => {
    chains ??= CHAINS.map((escapes) => createChain(patterns, escapes, found));
    for (const chain of chains) {
      if (chain.isActive() || !chain.openers.has(text.charCodeAt(0))) continue;
      chain.activate(before, at);
      for (let index = 0; index < text.length; index += 1)
        chain.push(text.charCodeAt(index), at + index);
      if (chain.isActive()) active.push(chain);
    }
  };

  /** Whether the decoded text may continue or begin a match, or begin another escape. */
  const matters = (decoded: string, before: number) =>
    before !== 0 ||
    decoded
      .split('')
      .map((unit) => unit.charCodeAt(0))
      .some((code) => next(0, code) !== 0 || opens(code));

  const readEscape = (code: number, before: number) => {
    if (attempt === '') {
      attemptAt = position;
      attemptState = before;
    }
    const text = attempt + String.fromCharCode(code);
    const reading = text === PLUS ? 'none' : anyEscape.read(text);
    attempt = reading === 'more' ? text : '';
    if (reading === 'more') return;
    if (reading !== 'none') {
      const { decoded } = reading;
      for (let at = 0; at < decoded.length; at += 1)
        base64.push(decoded.charCodeAt(at), attemptAt, position + 1);
      if (matters(decoded, attemptState)) wake(text, attemptAt, attemptState);
      return;
    }
    for (let at = 0; at < text.length - 1; at += 1)
      base64.push(text.charCodeAt(at), attemptAt + at, attemptAt + at + 1);
    if (text.length > 1 && opens(code)) {
      // Part of the escape may itself be escaped, or the unit opens another escape.
      wake(text, attemptAt, attemptState);
      return readEscape(code, before);
    }
    if (text === PLUS && matters(' ', before)) wake(PLUS, position, before);
    base64.push(code, position, position + 1);
  };

  const read = (code: number) => {
    const before = state;
    state = next(before, code);
    const pattern = match[state] ?? -1;
    const end = position + 1;
    if (pattern >= 0) found(end - (lengths[pattern] ?? 0), end, pattern);
    if (active.length > 0) {
      for (const chain of active) chain.push(code, position);
      active = active.filter((chain) => chain.isActive());
    }
    hexadecimal.push(code, position, end);
    if (attempt !== '' || opens(code)) readEscape(code, before);
    else base64.push(code, position, end);
    position = end;
  };

  return {
    push(piece) {
      for (let at = 0; at < piece.length; at += 1) read(piece.charCodeAt(at));
    },
    liveStart() {
      const starts = [
        attempt === '' ? undefined : attemptAt - (depth[attemptState] ?? 0),
        hexadecimal.liveStart(),
        base64.liveStart(),
        ...active.map((chain) => chain.liveStart()),
      ];
      return starts.reduce<number>(
        (earliest, start = earliest) => Math.min(earliest, start),
        position - (depth[state] ?? 0),
      );
    },
    flush() {
      for (const chain of active) chain.flush();
    },
  };
}

function opens(code: number): boolean {
  return code < 128 && OPENS[code] === 1;
}
