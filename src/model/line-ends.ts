/**
 * Ends each line with LF, also where CR and LF arrive apart. `eventsource-parser` looks for the next CR once
 * a line, so that many lines before a distant CR take it quadratic time.
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
