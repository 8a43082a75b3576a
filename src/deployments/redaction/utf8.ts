/** The length of a UTF-8 character in bytes, by its first byte; 1 for a byte that starts no multi-byte character. */
export function utf8Length(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
