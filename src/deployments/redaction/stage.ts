import type { Escape } from './escapes.ts';

/** A unit of a text, decoded or not, and where it stands in the source. */
export type Unit = {
  code: number;
  start: number;
  end: number;
  /** Whether it stands in the source as it is. */
  isLiteral: boolean;
};

/** Gets the units of a text, one after another. */
export type Emit = (code: number, start: number, end: number, isLiteral: boolean) => void;

/** Replaces the escapes of one kind in a stream of units. */
export type Stage = {
  push: Emit;
  /** The start of an escape that is not complete yet, if there is one. */
  pending(): number | undefined;
  /** Emits what never became an escape. */
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
      // An escape holds no opener, but the unit that ends its attempt may be one.
      flush();
      push(code, start, end, isLiteral);
    }
  };

  return { push, flush, pending: () => units[0]?.start };
}
