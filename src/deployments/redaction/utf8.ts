/** How many bytes a character has in UTF-8, by its first one; 1 for a byte that begins no longer character. */
export function utf8Length(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
