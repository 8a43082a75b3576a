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
};

export function createUtf8Decoder(
  emit: (code: number, start: number, end: number) => void,
): Utf8Decoder {
  /** The bytes that the current character still needs, its bits so far, and its start. */
  let missing = 0;
  let character = 0;
  let characterStart = 0;

  const interrupt = (at: number) => {
    if (missing === 0) return;
    missing = 0;
    emit(REPLACEMENT, characterStart, at);
  };

  return {
    push(byte, start, end) {
      if (missing > 0 && (byte & 0xc0) === 0x80) {
        character = (character << 6) | (byte & 0x3f);
        missing -= 1;
        if (missing > 0) return;
        if (character < 0x1_00_00) return emit(character, characterStart, end);
        const rest = character - 0x1_00_00;
        emit(0xd8_00 | (rest >> 10), characterStart, end);
        emit(0xdc_00 | (rest & 0x3_ff), characterStart, end);
        return;
      }
      interrupt(start);
      missing = utf8Length(byte) - 1;
      if (missing === 0) emit(byte < 0x80 ? byte : REPLACEMENT, start, end);
      character = byte & (0x3f >> missing);
      characterStart = start;
    },
    interrupt,
    pending: () => (missing > 0 ? characterStart : undefined),
    reset() {
      missing = 0;
    },
  };
}

/** The length of a UTF-8 character in bytes, by its first byte; 1 for a byte that starts no multi-byte character. */
function utf8Length(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
