/**
 * Converts line ends to LF, even if CR and LF arrive in separate pieces. `eventsource-parser` searches for the next CR
 * once per line, which takes quadratic time if a CR follows many lines.
 */
export function normalizeLineEnds() {
  let held = '';
  return (piece: string): string => {
    if (held === '' && !piece.includes('\r')) return piece;
    const text = held + piece;
    held = text.endsWith('\r') ? '\r' : '';
    return text.slice(0, text.length - held.length).replaceAll(/\r\n?/g, '\n');
  };
}
