import type { Escape } from './escapes.ts';

/** A code unit, decoded or literal, with its range in the source text. */
export type Unit = {
  code: number;
  start: number;
  end: number;
  /** Whether the unit is not decoded. */
  isLiteral: boolean;
};

/** Receives the units of a text in order. */
export type Emit = (code: number, start: number, end: number, isLiteral: boolean) => void;

/** Decodes the escapes of one kind in a stream of units. */
export type Stage = {
  push: Emit;
  /** The start of an incomplete escape, if any. */
  pending(): number | undefined;
  /** Emits an incomplete escape as literal units. */
  flush(): void;
};

export function createStage({ openers, read }: Escape, emit: Emit): Stage {
  let text = '';
  let units: Unit[] = [];

  const flush = () => {
    const literal = units;
    [text, units] = ['', []];
    for (const { code, start, end, isLiteral } of literal) emit(code, start, end, isLiteral);
  };

  const push: Emit = (code, start, end, isLiteral) => {
    if (text === '' && !openers.includes(code)) return emit(code, start, end, isLiteral);
    const longer = text + String.fromCharCode(code);
    const reading = read(longer);
    if (reading === 'more') {
      text = longer;
      units.push({ code, start, end, isLiteral });
    } else if (reading !== 'none') {
      const from = units[0]?.start ?? start;
      [text, units] = ['', []];
      for (let at = 0; at < reading.decoded.length; at += 1)
        emit(reading.decoded.charCodeAt(at), from, end, false);
    } else if (text === '') {
      emit(code, start, end, isLiteral);
    } else {
      // A withheld text contains no second opener, but the unit that ends it may be an opener.
      flush();
      push(code, start, end, isLiteral);
    }
  };

  return { push, flush, pending: () => units[0]?.start };
}
