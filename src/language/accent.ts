/** The colours of the chat page for one theme, as `#rrggbb`. */
export type AccentColors = {
  /** For buttons, for the visitor's messages, and for links on the page. */
  accent: string;
  /** For a button under the pointer: further from the page. */
  hover: string;
  /** For text on the accent. */
  ink: string;
  /** Behind text of the page: hardly another colour than the page. */
  wash: string;
};

type Rgb = readonly [red: number, green: number, blue: number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** The papers of the chat page, as in the console's tokens. */
const PAPERS = { light: '#fdfdfc', dark: '#121413' } as const;

/** The contrast of text, as WCAG 2.2 requires it in success criterion 1.4.3. */
export const MIN_CONTRAST = 4.5;
/** The contrast of the derived accent with the dark page. More than required, because dark pages are read at night. */
const DARK_CONTRAST = 7;
const STEPS = 100;
const HOVER_PART = 0.15;
const WASH_PART = 0.1;

const COLOR = /^#[\da-f]{6}$/i;

/** Whether a text is a colour as `#rrggbb`. */
export function isColor(text: string): boolean {
  return COLOR.test(text);
}

/** The contrast of an accent with the light page, 1 to 21. */
export function contrastOnPage(accent: string): number {
  return contrast(rgbOf(accent), rgbOf(PAPERS.light));
}

/** The nearest darker colour of the same hue that is readable on the light page. */
export function readableAccent(accent: string): string {
  return mixUntil(accent, BLACK, PAPERS.light, MIN_CONTRAST);
}

/** The colours of the chat page for an accent that is readable on the light page. */
export function accentColors(accent: string): { light: AccentColors; dark: AccentColors } {
  const { light, dark } = PAPERS;
  return {
    light: colorsOn(light, accent.toLowerCase(), { ink: textOf(WHITE), away: BLACK }),
    dark: colorsOn(dark, mixUntil(accent, WHITE, dark, DARK_CONTRAST), { ink: dark, away: WHITE }),
  };
}

/** Declarations that give an element the colours of an accent, in the theme of the element. */
export function accentTokens(accent: string): Record<string, string> {
  const { light, dark } = accentColors(accent);
  const both = (name: keyof AccentColors) => `light-dark(${light[name]}, ${dark[name]})`;
  return {
    '--accent': both('accent'),
    '--accent-hover': both('hover'),
    '--accent-ink': both('ink'),
    '--accent-wash': both('wash'),
  };
}

function colorsOn(paper: string, accent: string, { ink, away }: { ink: string; away: Rgb }) {
  const hover = textOf(mix(rgbOf(accent), away, HOVER_PART));
  return { accent, hover, ink, wash: textOf(mix(rgbOf(paper), rgbOf(accent), WASH_PART)) };
}

/** Mixes a colour with another one in small steps, until it has a contrast with a paper. */
function mixUntil(color: string, end: Rgb, paper: string, least: number): string {
  const from = rgbOf(color);
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(from, end, step / STEPS);
    if (contrast(mixed, rgbOf(paper)) >= least) return textOf(mixed);
  }
  return textOf(end);
}

function mix([red, green, blue]: Rgb, [toRed, toGreen, toBlue]: Rgb, part: number): Rgb {
  const channel = (from: number, to: number) => Math.round(from + (to - from) * part);
  return [channel(red, toRed), channel(green, toGreen), channel(blue, toBlue)];
}

/** Source: WCAG 2.2, "contrast ratio". */
function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Source: WCAG 2.2, "relative luminance". */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgbOf(color: string): Rgb {
  const channel = (at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

function textOf(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
