import { styleText } from 'node:util';

/** Colours for one stream. Without colours, each function returns its text. */
export type Style = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Paint>;

type Paint = (text: string) => string;

export function createStyle(hasColours: boolean): Style {
  const paint =
    (format: keyof Style): Paint =>
    (text) =>
      hasColours ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
