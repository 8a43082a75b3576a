import { structuredPatch } from 'diff';
import { createSource } from '../../language/source.ts';
import type { Style } from '../terminal/style.ts';

/** Unchanged lines around each change. */
const CONTEXT_LINES = 3;

/** A change of a definition as a unified diff of the lines that the language reads; empty without a change. */
export function sourceDiff(before: string, after: string, style: Style): string {
  const [from, to] = [createSource(before).text, createSource(after).text];
  const { hunks } = structuredPatch('', '', from, to, '', '', { context: CONTEXT_LINES });
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        style.cyan(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`),
        ...lines.map((line) => paintLine(line, style)),
      ].join('\n'),
    )
    .join('\n');
}

function paintLine(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  return line.startsWith('-') ? style.red(line) : line;
}
