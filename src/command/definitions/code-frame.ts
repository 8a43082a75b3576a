import { createSource } from '../../language/source.ts';
import type { Style } from '../terminal/style.ts';
import { cut, oneLine, widthOf } from '../terminal/text-table.ts';
import { visible } from '../terminal/visible.ts';

/** A problem of a source, from the language or from the server. */
export type Problem = {
  severity: 'ERROR' | 'WARNING';
  code: string;
  message: string;
  line: number;
  column: number;
  endLine?: number;
  endColumn?: number;
};

/** Columns of a line of source that are shown. */
const MAX_LINE = 160;
const TAB = '  ';

/** Problems of one source, each with its line and carets below the place. */
export function codeFrames(
  { name, text }: { name: string; text: string },
  problems: readonly Problem[],
  style: Style,
): string {
  const lines = createSource(text).text.split('\n');
  return problems.map((problem) => codeFrame(name, lines, problem, style)).join('\n\n');
}

function codeFrame(name: string, lines: readonly string[], problem: Problem, style: Style): string {
  const { severity, code, message, line, column } = problem;
  const isError = severity === 'ERROR';
  const paint = isError ? style.red : style.yellow;
  const place = style.bold(`${name}:${line}:${column}`);
  const title = `${place} ${paint(isError ? 'error' : 'warning')} ${oneLine(message)} ${style.dim(`[${code}]`)}`;
  const source = lines[line - 1];
  if (source === undefined) return title;
  const gutter = `${line}`.padStart(5);
  const before = shown(source.slice(0, column - 1));
  const { endLine, endColumn = column + 1 } = problem;
  // The end is exclusive. A problem of several lines is marked at its beginning.
  const end = endLine === line ? endColumn : column + 1;
  const length = Math.max(
    1,
    widthOf(shown(source.slice(column - 1, end - 1), source.slice(0, column - 1))),
  );
  const offset = widthOf(before);
  if (offset >= MAX_LINE) return title;
  const carets = '^'.repeat(Math.min(length, MAX_LINE - offset));
  return [
    title,
    `${style.dim(`${gutter} |`)} ${cut(shown(source), MAX_LINE)}`,
    `${style.dim(`${' '.repeat(5)} |`)} ${' '.repeat(offset)}${paint(carets)}`,
  ].join('\n');
}

const shown = (text: string, before?: string) => visible(text, before).replaceAll('\t', TAB);
