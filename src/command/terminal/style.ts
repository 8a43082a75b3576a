import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { visible } from './visible.ts';

/** Marks a text for one stream. Without colours, each function returns its text. */
export type Style = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Paint>;

type Paint = (text: string) => string;

/** Stands around each code of a colour. No text from outside contains it, because nobody can guess it. */
const MARK = randomUUID();

/** The text of a style has no escape sequence: only a filter of `createFilter` makes one from its marks. */
export function createStyle(hasColours: boolean): Style {
  const paint = (format: keyof Style): Paint => {
    const [open, close] = inspect.colors[format] ?? [];
    return (text) => (hasColours ? `${MARK}${open}${MARK}${text}${MARK}${close}${MARK}` : text);
  };
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}

/**
 * Makes the filter of a stream, which sees all texts of the stream in their order. Of a text, only the styles of
 * `createStyle` reach the terminal as escape sequences; all else becomes `visible`.
 */
export function createFilter(): (text: string) => string {
  let before = '';
  return (text) =>
    text
      .split(MARK)
      .map((part, index) => {
        if (index % 2 === 1) return `\x1b[${part}m`;
        const shown = visible(part, before);
        before = (before + part).slice(-2);
        return shown;
      })
      .join('');
}
