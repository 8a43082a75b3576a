/**
 * Characters that a reader cannot see, and that may change what a terminal does or what a text seems to say: control
 * characters but tabs and line breaks, line and paragraph separators, and what Unicode calls default ignorable, such as
 * bidirectional controls, zero-width characters, fillers and tags.
 */
const HIDDEN = String.raw`[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]--[\t\n]]`;

/** Scripts whose letters joiners never change. */
const UNJOINED = ['Latin', 'Greek', 'Cyrillic', 'Common', 'Inherited']
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** The end of an emoji, or a letter of a script in which joiners belong to the spelling. */
const JOINABLE = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F[[\p{L}\p{M}]--[${UNJOINED}]]]`;

/** A joiner in an emoji or a word, and the presentation of an emoji or of a keycap. */
const USEFUL = String.raw`(?<=${JOINABLE})[\u200C\u200D]|(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]|\uFE0F(?=\u20E3)`;

const MISLEADING = new RegExp(String.raw`(?<=\r)\n|(?!${USEFUL})${HIDDEN}`, 'gv');
const ANY_HIDDEN = new RegExp(HIDDEN, 'gv');

/**
 * Makes a text harmless: each hidden character appears in the notation of `less`, such as `^[` or `<U+202E>`. Nothing is
 * removed, so that no harmless parts join, and the reader sees the attempt. An escape sequence loses its first
 * character, so the rest of it is text, also if it arrives in pieces. A carriage return ends a line.
 *
 * @param before the end of the text that precedes, at least two code units.
 */
export function visible(text: string, before = ''): string {
  const start = before.length;
  return (before + text)
    .replaceAll(MISLEADING, (character, offset: number) =>
      offset < start ? character : notation(character),
    )
    .slice(start);
}

function notation(character: string): string {
  if (character === '\r') return '\n';
  // The rest of a line break of two characters.
  if (character === '\n') return '';
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x7f) return '^?';
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** JSON in which hidden characters are escaped, such as `\u202e`. It loses nothing. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(ANY_HIDDEN, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
