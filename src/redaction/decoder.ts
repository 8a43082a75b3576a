import { createEscapeReader, kindOf, MAX_ESCAPE, PERCENT, PLUS } from './escapes.ts';
import type { Patterns } from './patterns.ts';
import type { Utf8Decoder } from './utf8.ts';

/** The source position of a unit, by its index in a text. */
export type Starts = { get(index: number): number };

/** A unit with its range in the source text. */
export type Push = (code: number, start: number, end: number) => void;

/**
 * Searches a text in which escapes of some kinds are decoded. The layer is inactive while it equals the text above it.
 * It becomes active where an escape is decoded, from the state of that text's matcher. Text without escapes therefore
 * costs nothing.
 */
export type Layer = {
  /** The kinds of escapes that are decoded. */
  readonly kinds: number;
  /** Decodes this text's own escapes for the layers below. Absent in the last layers. */
  readonly decoder: Decoder | undefined;
  active: boolean;
  /** Continues the text above, from a state of its matcher before the unit at `index`. */
  activate(state: number, index: number, starts: Starts): void;
  /** Keeps the layer active until `decode`, even if units of a failed escape come first. */
  expect(): void;
  /** Continues another layer of the same kinds. */
  copy(other: Layer): void;
  /** What `copy` reads. */
  readonly cursor: Cursor;
  /** Reads a unit that belongs to no escape of the layer's kinds. */
  push: Push;
  /** Reads a decoded escape: a byte of UTF-8, or one or two units. */
  decode(value: number, rest: number, isByte: boolean, start: number, end: number): void;
  /** The start of the earliest incomplete match, if any. */
  liveStart(): number | undefined;
};

/** A position in a layer's text. */
export type Cursor = {
  /** The matcher's state. */
  state: number;
  /** The number of units read, and the number up to the last decoded one. */
  count: number;
  decoded: number;
  starts: Starts;
  character: Utf8Decoder['character'];
};

/** Decodes the escapes of a text for the layers below it. Each layer decodes some kinds and keeps the other escapes. */
export type Decoder = {
  /**
   * @param before the state of the text's matcher before the unit.
   * @param index the unit's index in the text.
   */
  push(code: number, start: number, end: number, before: number, index: number): void;
  /** Whether escapes are withheld, or a layer differs from the text. */
  isBusy(): boolean;
  /** Starts the layers that have a counterpart among other layers from there. */
  takeOver(others: readonly Layer[]): void;
  /** The start of the earliest incomplete match in the layers, if any. */
  liveStart(): number | undefined;
  /** Processes withheld incomplete escapes as plain text. */
  flush(): void;
};

const [SPACE, REPLACEMENT] = [0x20, 0xff_fd];

export function createDecoder(
  { matcher: { next, depth }, begins }: Patterns,
  starts: Starts,
  createLayers: () => readonly Layer[],
  /** Receives the text with all kinds of escapes decoded, except `+`. */
  decoded?: Push,
): Decoder {
  const reader = createEscapeReader();
  let layers: readonly Layer[] = [];
  /** The number of layers that differ from the text. */
  let active = 0;
  /**
   * The withheld units: a possible escape, after another one that failed at the opener of the first. In decoded text,
   * the failed one may continue.
   */
  const codes = new Uint16Array(2 * MAX_ESCAPE);
  const from = new Int32Array(2 * MAX_ESCAPE);
  const to = new Int32Array(2 * MAX_ESCAPE);
  let length = 0;
  let failed = 0;
  /** The index of the first withheld unit, and the matcher's state before it. */
  let withheldIndex = 0;
  let withheldState = 0;
  /** The kind of the possible escape, and the matcher's state before it. */
  let kind = 0;
  let attemptState = 0;

  const pushLiteral: Push = (code, start, end) => {
    decoded?.(code, start, end);
    if (active === 0) return;
    active = 0;
    for (const layer of layers) {
      if (!layer.active) continue;
      layer.push(code, start, end);
      if (layer.active) active += 1;
    }
  };

  /** Processes withheld units as plain text. */
  const release = (count: number) => {
    for (let at = 0; at < count; at += 1) pushLiteral(codes[at] ?? 0, from[at] ?? 0, to[at] ?? 0);
    length -= count;
    for (let at = 0; at < length; at += 1) {
      codes[at] = codes[count + at] ?? 0;
      from[at] = from[count + at] ?? 0;
      to[at] = to[count + at] ?? 0;
    }
  };

  const withhold: Push = (code, start, end) => {
    codes[length] = code;
    from[length] = start;
    to[length] = end;
    length += 1;
  };

  const begin = (code: number, start: number, end: number, before: number, index: number) => {
    kind = kindOf(code);
    attemptState = before;
    if (length === 0) {
      withheldState = before;
      withheldIndex = index;
    }
    withhold(code, start, end);
    reader.begin(kind);
  };

  const fail = () => {
    const older = failed;
    failed = length - older;
    release(older);
    withheldState = attemptState;
    withheldIndex += older;
  };

  /** Activates the layers that an escape may make different from the text. */
  const activate = (value: number, rest: number, isByte: boolean) => {
    const matches =
      attemptState !== 0 ||
      (isByte ? begins[value] === 1 : next(0, value) !== 0 || (rest !== 0 && next(0, rest) !== 0));
    const nests = failed > 0 || active > 0 || (!isByte && (kindOf(value) | kindOf(rest)) !== 0);
    if (!matches && !nests) return;
    if (layers.length === 0) layers = createLayers();
    if (active > 0)
      for (const layer of layers)
        if ((layer.kinds & kind) !== 0 && !layer.active) layer.decoder?.takeOver(layers);
    for (const layer of layers) {
      if ((layer.kinds & kind) === 0 || !(matches || layer.active || layer.decoder)) continue;
      if (!layer.active) layer.activate(withheldState, withheldIndex, starts);
      layer.expect();
    }
    active = layers.length;
  };

  const complete = (value: number, rest: number, end: number) => {
    const start = from[failed] ?? 0;
    const isByte = kind === PERCENT && value >= 0x80;
    activate(value, rest, isByte);
    release(failed);
    failed = 0;
    if (kind === PLUS) decoded?.(codes[0] ?? 0, start, end);
    else decoded?.(isByte ? REPLACEMENT : value, start, end);
    if (rest !== 0) decoded?.(rest, start, end);
    if (active > 0) {
      active = 0;
      for (const layer of layers) {
        if (!layer.active) continue;
        if ((layer.kinds & kind) !== 0) layer.decode(value, rest, isByte, start, end);
        else
          for (let at = 0; at < length; at += 1)
            layer.push(codes[at] ?? 0, from[at] ?? 0, to[at] ?? 0);
        if (layer.active) active += 1;
      }
    }
    length = 0;
  };

  return {
    push(code, start, end, before, index) {
      if (length > failed) {
        const reading = reader.read(code);
        if (reading !== 'none') {
          withhold(code, start, end);
          if (reading === 'done') complete(reader.decoded(), reader.decodedRest(), end);
          return;
        }
        fail();
      }
      const opened = kindOf(code);
      if (opened === 0) {
        if (length > 0) {
          release(length);
          failed = 0;
        }
        return pushLiteral(code, start, end);
      }
      begin(code, start, end, before, index);
      if (opened === PLUS) complete(SPACE, 0, end);
    },
    isBusy: () => length > 0 || active > 0,
    takeOver(others) {
      for (const other of others) {
        if (!other.active) continue;
        if (layers.length === 0) layers = createLayers();
        for (const layer of layers)
          if (layer.kinds === other.kinds) {
            layer.copy(other);
            active += 1;
          }
      }
    },
    liveStart() {
      let earliest: number | undefined;
      if (length > 0) {
        const before = depth[withheldState] ?? 0;
        earliest = before === 0 ? (from[0] ?? 0) : starts.get(withheldIndex - before);
      }
      for (const layer of active > 0 ? layers : []) {
        const start = layer.active ? layer.liveStart() : undefined;
        if (start !== undefined && start < (earliest ?? Infinity)) earliest = start;
      }
      return earliest;
    },
    flush() {
      release(length);
      failed = 0;
      for (const layer of layers) if (layer.active) layer.decoder?.flush();
    },
  };
}
