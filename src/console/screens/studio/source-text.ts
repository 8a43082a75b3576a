/** A source as the editor has it: without a byte order mark, each line break `\n`. */
export function editorText(source: string): string {
  return source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
}
