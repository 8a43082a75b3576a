import { type Chain, createChain, type Escape, type Found } from './chain.ts';
import { BASE64, createEncodedBytes, HEXADECIMAL } from './encoded-bytes.ts';
import {
  BACKSLASH,
  createEscapeReader,
  ENTITY,
  kindOf,
  MAX_ESCAPE,
  PERCENT,
  PLUS,
} from './escapes.ts';
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
const CHAINS: readonly (readonly [number, number?])[] = [
  PERCENT,
  PERCENT | PLUS,
  BACKSLASH,
  ENTITY,
].flatMap((outer) => [
  [outer] as const,
  ...[PERCENT, BACKSLASH, ENTITY].map((inner) => [outer, inner] as const),
]);

const [SPACE, REPLACEMENT] = [0x20, 0xff_fd];

/**
 * The time is linear in the text. Escapes in the text are read once for all chains. The constant factor is the number of
 * encodings.
 */
export function createScanner(patterns: Patterns, found: Found): Scanner {
  const { matcher, lengths, begins } = patterns;
  const { next, depth, match } = matcher;
  const hexadecimal = createEncodedBytes(HEXADECIMAL, patterns, found);
  const base64 = createEncodedBytes(BASE64, patterns, found);
  let chains: Chain[] | undefined;
  const active: Chain[] = [];
  let position = 0;
  let state = 0;
  const reader = createEscapeReader();
  /**
   * A possible escape, after another one that failed at the opener of the first: in decoded text, the failed one may
   * continue. For both, the kind and the matcher's state before them.
   */
  const withheld = new Uint16Array(2 * MAX_ESCAPE);
  let length = 0;
  let kind = 0;
  let attemptAt = 0;
  let attemptState = 0;
  let failedLength = 0;
  let failedKind = 0;
  let failedState = 0;

  const begin = (opener: number, before: number) => {
    kind = kindOf(opener);
    attemptAt = position;
    attemptState = before;
    withheld[length] = opener;
    length += 1;
    reader.begin(kind);
  };

  const forget = () => {
    length = 0;
    failedLength = 0;
    failedKind = 0;
  };

  const dropInactive = () => {
    let kept = 0;
    for (const chain of active)
      if (chain.isActive()) {
        active[kept] = chain;
        kept += 1;
      }
    active.length = kept;
  };

  const readLiteral = (code: number, at: number) => {
    base64.push(code, at, at + 1);
    if (active.length === 0) return;
    for (const chain of active) chain.push(code, at);
    dropInactive();
  };

  /** Reads a possible escape as plain text. */
  const fail = () => {
    for (let at = failedLength; at < length; at += 1)
      readLiteral(withheld[at] ?? 0, attemptAt + at - failedLength);
    withheld.copyWithin(0, failedLength, length);
    length -= failedLength;
    failedLength = length;
    failedKind = kind;
    failedState = attemptState;
  };

  /** Reads an escape, and activates the chains that it concerns. */
  const complete = (value: number, rest: number) => {
    const end = position + 1;
    const isByte = kind === PERCENT && value >= 0x80;
    base64.push(
      kind === PLUS ? (withheld[failedLength] ?? 0) : isByte ? REPLACEMENT : value,
      attemptAt,
      end,
    );
    if (rest !== 0) base64.push(rest, attemptAt, end);
    const codes = { codes: withheld, from: failedLength, to: length };
    const whole = { kind, value, rest, start: attemptAt, end, ...codes };
    if (active.length > 0) {
      for (const chain of active) chain.pushEscape(whole);
      dropInactive();
    }
    wake(whole, isByte);
    forget();
  };

  const wake = (whole: Escape, isByte: boolean) => {
    const { value, rest } = whole;
    const mayMatch =
      attemptState !== 0 ||
      (isByte ? begins[value] === 1 : next(0, value) !== 0 || (rest !== 0 && next(0, rest) !== 0));
    /** The kinds of escapes that the decoded text may begin or continue. */
    const nested = isByte ? 0 : kindOf(value) | kindOf(rest) | failedKind;
    if (!mayMatch && nested === 0) return;
    chains ??= CHAINS.map((escapes) => createChain(patterns, escapes, found));
    for (const chain of chains) {
      const isOuter = (chain.outer & kind) !== 0;
      if (chain.isActive() || !(isOuter || chain.inner === kind)) continue;
      const nests = isOuter && (chain.inner & nested) !== 0;
      if (!mayMatch && !nests) continue;
      if (nests && chain.inner === failedKind) {
        const failedAt = attemptAt - failedLength;
        chain.activate(failedState, failedAt);
        for (let at = 0; at < failedLength; at += 1) chain.push(withheld[at] ?? 0, failedAt + at);
      } else chain.activate(attemptState, attemptAt);
      chain.pushEscape(whole);
      if (chain.isActive()) active.push(chain);
    }
  };

  const readText = (code: number, before: number) => {
    if (length > failedLength) {
      const reading = reader.read(code);
      if (reading !== 'none') {
        withheld[length] = code;
        length += 1;
        if (reading === 'done') complete(reader.decoded(), reader.decodedRest());
        return;
      }
      fail();
    }
    const opened = kindOf(code);
    if (opened === 0 || opened === PLUS) forget();
    if (opened === 0) return readLiteral(code, position);
    begin(code, before);
    if (opened === PLUS) complete(SPACE, 0);
  };

  const read = (code: number) => {
    const before = state;
    state = next(before, code);
    const pattern = match[state] ?? -1;
    const end = position + 1;
    if (pattern >= 0) found(end - (lengths[pattern] ?? 0), end, pattern);
    hexadecimal.push(code, position, end);
    if (length > 0 || kindOf(code) !== 0) readText(code, before);
    else readLiteral(code, position);
    position = end;
  };

  /** The start of the earliest match that the withheld text may continue. */
  const withheldStart = () =>
    Math.min(
      attemptAt - (depth[attemptState] ?? 0),
      failedLength > 0 ? attemptAt - failedLength - (depth[failedState] ?? 0) : Infinity,
    );

  return {
    push(piece) {
      for (let at = 0; at < piece.length; at += 1) read(piece.charCodeAt(at));
    },
    liveStart() {
      const starts = [
        length === 0 ? undefined : withheldStart(),
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
      if (length > failedLength) fail();
      for (const chain of active) chain.flush();
    },
  };
}
