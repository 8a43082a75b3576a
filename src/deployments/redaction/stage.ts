import { createEscapeReader, kindOf, MAX_ESCAPE, PERCENT } from './escapes.ts';
import { createUtf8Decoder } from './utf8.ts';

/** Receives the units of a text in order, decoded or literal, with their ranges in the source text. */
export type Emit = (code: number, start: number, end: number, isLiteral: boolean) => void;

/** Puts together a text of which some escapes are decoded. */
export type DecodedText = {
  push: Emit;
  /** Adds what one escape encodes: a byte of UTF-8, or one or two units. */
  decoded(kind: number, value: number, rest: number, start: number, end: number): void;
  /** The start of an incomplete character, if any. */
  pending(): number | undefined;
};

export function createDecodedText(emit: Emit): DecodedText {
  const utf8 = createUtf8Decoder((code, start, end) => emit(code, start, end, false));
  let isPending = false;

  const push: Emit = (code, start, end, isLiteral) => {
    if (isPending) {
      isPending = false;
      utf8.interrupt(start);
    }
    emit(code, start, end, isLiteral);
  };

  return {
    push,
    decoded(kind, value, rest, start, end) {
      if (kind === PERCENT && value >= 0x80) {
        utf8.push(value, start, end);
        isPending = utf8.pending() !== undefined;
        return;
      }
      push(value, start, end, false);
      if (rest !== 0) emit(rest, start, end, false);
    },
    pending: () => (isPending ? utf8.pending() : undefined),
  };
}

/** Decodes the escapes of one kind in a stream of units. */
export type Stage = {
  push: Emit;
  /** Adds an escape of the stage's kind that is already decoded. Only while no escape is withheld. */
  decoded: DecodedText['decoded'];
  isWithholding(): boolean;
  /** The start of an incomplete escape or character, if any. */
  pending(): number | undefined;
  /** Emits an incomplete escape as literal units. */
  flush(): void;
};

export function createStage(kind: number, emit: Emit): Stage {
  const reader = createEscapeReader();
  const text = createDecodedText(emit);
  /** The withheld units of an incomplete escape. */
  let count = 0;
  const codes = new Uint16Array(MAX_ESCAPE);
  const starts = new Int32Array(MAX_ESCAPE);
  const ends = new Int32Array(MAX_ESCAPE);
  const literal = new Uint8Array(MAX_ESCAPE);

  const withhold: Emit = (code, start, end, isLiteral) => {
    codes[count] = code;
    starts[count] = start;
    ends[count] = end;
    literal[count] = isLiteral ? 1 : 0;
    count += 1;
  };

  const flush = () => {
    const length = count;
    count = 0;
    for (let at = 0; at < length; at += 1)
      text.push(codes[at] ?? 0, starts[at] ?? 0, ends[at] ?? 0, literal[at] === 1);
  };

  const push: Emit = (code, start, end, isLiteral) => {
    if (count > 0) {
      const reading = reader.read(code);
      if (reading === 'more') return withhold(code, start, end, isLiteral);
      if (reading === 'done') {
        count = 0;
        return text.decoded(kind, reader.decoded(), reader.decodedRest(), starts[0] ?? 0, end);
      }
      flush();
    }
    if (kindOf(code) !== kind) return text.push(code, start, end, isLiteral);
    reader.begin(kind);
    withhold(code, start, end, isLiteral);
  };

  return {
    push,
    decoded: text.decoded,
    isWithholding: () => count > 0,
    pending: () => text.pending() ?? (count > 0 ? starts[0] : undefined),
    flush,
  };
}
