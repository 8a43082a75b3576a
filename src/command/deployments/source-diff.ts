import { structuredPatch } from 'diff';
import type { Style } from '../terminal/style.ts';
import { printable } from '../terminal/text-table.ts';

/** Unchanged lines around each change. */
const CONTEXT_LINES = 3;

/** A change of a definition as a unified diff; empty without a change. */
export function sourceDiff(before: string, after: string, style: Style): string {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES });
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        style.cyan(`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`),
        ...lines.map((line) => paintLine(printable(line), style)),
      ].join('\n'),
    )
    .join('\n');
}

function paintLine(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  return line.startsWith('-') ? style.red(line) : line;
}
