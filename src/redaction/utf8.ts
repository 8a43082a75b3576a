/** U+FFFD replaces invalid bytes. */
const REPLACEMENT = 0xff_fd;

/** Decodes bytes as UTF-8, with the range in the source text of each byte and unit. */
export type Utf8Decoder = {
  push(byte: number, start: number, end: number): void;
  /** The bytes end here: an incomplete character becomes U+FFFD. */
  interrupt(at: number): void;
  /** The start of an incomplete character, if any. */
  pending(): number | undefined;
  reset(): void;
  /** The incomplete character, for another decoder. */
  readonly character: Incomplete;
  /** Continues an incomplete character of another decoder. */
  take(character: Incomplete): void;
};

/** The bytes that a character still needs, its bits so far, and its start. */
type Incomplete = { missing: number; bits: number; start: number };

export function createUtf8Decoder(
  emit: (code: number, start: number, end: number) => void,
): Utf8Decoder {
  const character: Incomplete = { missing: 0, bits: 0, start: 0 };

  const interrupt = (at: number) => {
    if (character.missing === 0) return;
    character.missing = 0;
    emit(REPLACEMENT, character.start, at);
  };

  const complete = (end: number) => {
    const { bits, start } = character;
    if (bits < 0x1_00_00) return emit(bits, start, end);
    const rest = bits - 0x1_00_00;
    emit(0xd8_00 | (rest >> 10), start, end);
    emit(0xdc_00 | (rest & 0x3_ff), start, end);
  };

  return {
    character,
    push(byte, start, end) {
      if (character.missing > 0 && (byte & 0xc0) === 0x80) {
        character.bits = (character.bits << 6) | (byte & 0x3f);
        character.missing -= 1;
        if (character.missing === 0) complete(end);
        return;
      }
      interrupt(start);
      const missing = utf8Length(byte) - 1;
      if (missing === 0) emit(byte < 0x80 ? byte : REPLACEMENT, start, end);
      character.missing = missing;
      character.bits = byte & (0x3f >> missing);
      character.start = start;
    },
    interrupt,
    pending: () => (character.missing > 0 ? character.start : undefined),
    reset() {
      character.missing = 0;
    },
    take({ missing, bits, start }) {
      character.missing = missing;
      character.bits = bits;
      character.start = start;
    },
  };
}

/** The length of a UTF-8 character in bytes, by its first byte; 1 for a byte that starts no multi-byte character. */
function utf8Length(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
